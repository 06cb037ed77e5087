//! The address at which an API server calls the webhooks of an operator under test.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use jiff::Timestamp;
use kubewright_core::Clock;
use tokio::net::TcpListener;

use super::embedded::Embedded;
use crate::Error;

/// Where the API server runs that calls webhooks of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ApiServerLocation {
    /// In this process.
    SameProcess,
    /// On this machine.
    SameMachine,
    /// Elsewhere; it reaches this machine by this name or address.
    Remote(String),
}

/// The address of the webhooks of one operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WebhookAddress {
    /// The name of a Service, which the embedded server calls in this process.
    Service(String),
    /// A socket of this machine.
    Socket {
        /// Where each run listens.
        listen: SocketAddr,
        /// The name or address of this machine for the API server.
        host: String,
    },
}

impl ApiServerLocation {
    /// The current time of the API server.
    pub(super) fn now(&self) -> Timestamp {
        match self {
            Self::SameProcess => Embedded::start_time(),
            Self::SameMachine | Self::Remote(_) => Clock::system().now(),
        }
    }

    /// A new address for webhooks. Its port is free now, and bound again by each run.
    pub(super) async fn webhook_address(self, service: String) -> Result<WebhookAddress, Error> {
        let host = match self {
            Self::SameProcess => return Ok(WebhookAddress::Service(service)),
            Self::SameMachine => Ipv4Addr::LOCALHOST.to_string(),
            Self::Remote(host) => host,
        };
        let listener = bind(SocketAddr::new(listen_address(&host), 0)).await?;
        let listen = listener.local_addr().map_err(Error::Listen)?;
        Ok(WebhookAddress::Socket { listen, host })
    }
}

impl WebhookAddress {
    /// The name in the certificate.
    pub(super) fn host(&self) -> String {
        match self {
            Self::Service(host) | Self::Socket { host, .. } => host.clone(),
        }
    }

    /// The URL without a path.
    pub(super) fn url(&self) -> String {
        match self {
            Self::Service(host) => format!("https://{host}"),
            Self::Socket { listen, host } => {
                let port = listen.port();
                match host.parse::<Ipv6Addr>() {
                    Ok(address) => format!("https://[{address}]:{port}"),
                    Err(_) => format!("https://{host}:{port}"),
                }
            }
        }
    }
}

/// The address to listen on: loopback, unless the host is another machine's name for this one.
fn listen_address(host: &str) -> IpAddr {
    match host.parse::<IpAddr>() {
        Ok(address) if address.is_loopback() => address,
        Ok(IpAddr::V6(_)) => Ipv6Addr::UNSPECIFIED.into(),
        _ if is_loopback(host) => Ipv4Addr::LOCALHOST.into(),
        _ => Ipv4Addr::UNSPECIFIED.into(),
    }
}

/// Whether the host of a URL is a loopback address.
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
    use super::{WebhookAddress, is_loopback, listen_address};

    #[test]
    fn other_machines_can_connect_only_if_the_host_is_not_loopback() {
        for (host, listen) in [
            ("127.0.0.1", "127.0.0.1"),
            ("localhost", "127.0.0.1"),
            ("::1", "::1"),
            ("192.168.1.7", "0.0.0.0"),
            ("fd00::7", "::"),
            ("host.docker.internal", "0.0.0.0"),
        ] {
            assert_eq!(listen_address(host).to_string(), listen, "{host}");
        }
    }

    #[test]
    fn url_has_the_host_that_the_cluster_knows() {
        let url = |host: &str| {
            let address = WebhookAddress::Socket {
                listen: "0.0.0.0:70".parse().unwrap(),
                host: host.to_owned(),
            };
            address.url()
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
