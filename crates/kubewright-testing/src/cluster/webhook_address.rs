use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use jiff::Timestamp;
use kubewright_core::Clock;
use tokio::net::TcpListener;

use super::embedded::Embedded;
use crate::Error;

/// From where an API server calls the webhooks of an operator under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// From this process.
    Process,
    /// From this machine.
    Machine,
    /// From wherever this name or address leads to this machine.
    Host(String),
}

/// Where the webhooks of one operator are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The embedded server calls a Service, in this process.
    Service(String),
    /// Others call a socket of this machine.
    Address {
        /// Where each run listens.
        listen: SocketAddr,
        /// What the API server calls this machine.
        host: String,
    },
}

impl Reach {
    /// The present time of whoever calls.
    pub(super) fn now(&self) -> Timestamp {
        match self {
            Self::Process => Embedded::beginning(),
            Self::Machine | Self::Host(_) => Clock::system().now(),
        }
    }

    /// A place that can be called; a port is free now, and bound again by each run.
    pub(super) async fn place(self, service: String) -> Result<Place, Error> {
        let host = match self {
            Self::Process => return Ok(Place::Service(service)),
            Self::Machine => Ipv4Addr::LOCALHOST.to_string(),
            Self::Host(host) => host,
        };
        let listener = bind(SocketAddr::new(listening_for(&host), 0)).await?;
        let listen = listener.local_addr().map_err(Error::Listen)?;
        Ok(Place::Address { listen, host })
    }
}

impl Place {
    /// What the certificate is for.
    pub(super) fn host(&self) -> String {
        match self {
            Self::Service(host) | Self::Address { host, .. } => host.clone(),
        }
    }

    /// How it is called, without a path.
    pub(super) fn url(&self) -> String {
        match self {
            Self::Service(host) => format!("https://{host}"),
            Self::Address { listen, host } => {
                let port = listen.port();
                match host.parse::<Ipv6Addr>() {
                    Ok(address) => format!("https://[{address}]:{port}"),
                    Err(_) => format!("https://{host}:{port}"),
                }
            }
        }
    }
}

/// Only this machine is let in where only it can call.
fn listening_for(host: &str) -> IpAddr {
    match host.parse::<IpAddr>() {
        Ok(address) if address.is_loopback() => address,
        Ok(IpAddr::V6(_)) => Ipv6Addr::UNSPECIFIED.into(),
        _ if is_loopback(host) => Ipv4Addr::LOCALHOST.into(),
        _ => Ipv4Addr::UNSPECIFIED.into(),
    }
}

/// Whether a host of a URL is the machine that asks.
pub(super) fn is_loopback(host: &str) -> bool {
    let plain = host.trim_start_matches('[').trim_end_matches(']');
    let address = plain.parse::<IpAddr>();
    plain == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

pub(super) async fn bind(address: SocketAddr) -> Result<TcpListener, Error> {
    TcpListener::bind(address).await.map_err(Error::Listen)
}

#[cfg(test)]
mod tests {
    use super::{Place, is_loopback, listening_for};

    #[test]
    fn others_are_let_in_only_where_others_call() {
        for (host, listen) in [
            ("127.0.0.1", "127.0.0.1"),
            ("localhost", "127.0.0.1"),
            ("::1", "::1"),
            ("192.168.1.7", "0.0.0.0"),
            ("fd00::7", "::"),
            ("host.docker.internal", "0.0.0.0"),
        ] {
            assert_eq!(listening_for(host).to_string(), listen, "{host}");
        }
    }

    #[test]
    fn a_place_is_called_by_the_name_that_the_cluster_knows() {
        let url = |host: &str| {
            let place = Place::Address {
                listen: "0.0.0.0:70".parse().unwrap(),
                host: host.to_owned(),
            };
            place.url()
        };
        assert_eq!(url("192.168.1.7"), "https://192.168.1.7:70");
        assert_eq!(url("fd00::7"), "https://[fd00::7]:70");
        assert_eq!(url("host.internal"), "https://host.internal:70");
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for host in ["127.0.0.1", "127.3.0.1", "[::1]", "localhost"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["10.0.0.1", "example.com", "[fd00::1]", ""] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
