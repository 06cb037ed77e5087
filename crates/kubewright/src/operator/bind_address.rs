//! The address of a listener, as Go's flags spell it.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use tokio::net::TcpListener;

/// The address of a listener, as Go's flags spell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BindAddress {
    /// `0`: no listener.
    Disabled,
    /// `:8081`, on all addresses of the machine.
    AllAddresses(u16),
    /// `127.0.0.1:8081`.
    Address(SocketAddr),
}

impl BindAddress {
    /// Returns the listener, or `None` if it is disabled.
    pub(super) async fn listen(&self) -> std::io::Result<Option<TcpListener>> {
        match self {
            Self::Disabled => Ok(None),
            Self::Address(address) => TcpListener::bind(address).await.map(Some),
            Self::AllAddresses(port) => {
                // Accepts IPv4 connections too, if the machine has IPv6 at all.
                let listener = match TcpListener::bind((Ipv6Addr::UNSPECIFIED, *port)).await {
                    Ok(listener) => listener,
                    Err(_) => TcpListener::bind((Ipv4Addr::UNSPECIFIED, *port)).await?,
                };
                Ok(Some(listener))
            }
        }
    }
}

impl FromStr for BindAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "0" {
            return Ok(Self::Disabled);
        }
        const EXPECTED: &str = "expected HOST:PORT, :PORT or 0";
        match text.strip_prefix(':') {
            Some(port) => Ok(Self::AllAddresses(port.parse().map_err(|_| EXPECTED)?)),
            None => Ok(Self::Address(text.parse().map_err(|_| EXPECTED)?)),
        }
    }
}

impl std::fmt::Display for BindAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Disabled => f.write_str("0"),
            Self::AllAddresses(port) => write!(f, ":{port}"),
            Self::Address(address) => address.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BindAddress;

    #[test]
    fn addresses_have_the_syntax_of_go() {
        let address: BindAddress = "127.0.0.1:80".parse().unwrap();
        assert_eq!(address.to_string(), "127.0.0.1:80");
        assert_eq!(":80".parse::<BindAddress>().unwrap().to_string(), ":80");
        for invalid in ["", "80", "localhost", ":http", "1.2.3.4"] {
            assert!(invalid.parse::<BindAddress>().is_err(), "{invalid}");
        }
    }
}
