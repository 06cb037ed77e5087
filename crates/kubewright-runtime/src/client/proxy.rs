//! Proxy settings of the environment, and the servers that `NO_PROXY` exempts.

use std::net::IpAddr;

use http::Uri;
use http::uri::Scheme;
use kube::Config;

/// Removes the proxy from a configuration when it was set by the environment and does not apply to
/// the API server.
///
/// kube uses `HTTPS_PROXY` for every server and ignores `NO_PROXY`. The rules here are those of Go,
/// which kubectl follows: the proxy does not apply to servers on loopback and to servers without
/// TLS, nor to those that `NO_PROXY` lists. An entry is `*`, a domain (`example.com` includes its
/// subdomains, `.example.com` means only these), an address or a CIDR block. All but blocks can have
/// a port. A `proxy-url` of the kubeconfig always applies.
pub fn honor_no_proxy(config: &mut Config) {
    if ProxyEnvironment::read().applying(config).is_none() {
        config.proxy_url = None;
    }
}

/// The proxy variables of the environment.
#[derive(Debug, Default)]
pub(super) struct ProxyEnvironment {
    https: Vec<(&'static str, String)>,
    exempt: String,
}

impl ProxyEnvironment {
    pub(super) fn read() -> Self {
        let variable = |name| Some((name, std::env::var_os(name)?.into_string().ok()?));
        Self {
            https: ["HTTPS_PROXY", "https_proxy"]
                .into_iter()
                .filter_map(variable)
                .collect(),
            exempt: ["NO_PROXY", "no_proxy"]
                .into_iter()
                .filter_map(variable)
                .map(|(_, value)| value)
                .find(|value| !value.is_empty())
                .unwrap_or_default(),
        }
    }

    /// The variable that names this proxy.
    pub(super) fn variable(&self, proxy: &Uri) -> Option<&'static str> {
        let names_it =
            |(_, value): &&(&str, String)| value.parse::<Uri>().ok().as_ref() == Some(proxy);
        self.https.iter().find(names_it).map(|(name, _)| *name)
    }

    /// The proxy of a configuration, if it applies to its server.
    pub(super) fn applying<'c>(&self, config: &'c Config) -> Option<&'c Uri> {
        let proxy = config.proxy_url.as_ref()?;
        let is_from_environment = self.variable(proxy).is_some();
        (!is_from_environment || self.applies(&config.cluster_url)).then_some(proxy)
    }

    /// Whether the proxy of the environment applies to a server: `useProxy` of
    /// golang.org/x/net/http/httpproxy.
    fn applies(&self, server: &Uri) -> bool {
        let Some(server_host) = server.host() else {
            return true;
        };
        let host = server_host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .trim_end_matches('.')
            .to_ascii_lowercase();
        let address = host.parse::<IpAddr>().ok();
        let is_local = host == "localhost" || address.is_some_and(|address| address.is_loopback());
        if is_local || server.scheme() != Some(&Scheme::HTTPS) {
            return false;
        }
        let target = Target {
            address,
            port: server.port_u16().unwrap_or(443),
            host,
        };
        let mut entries = self.exempt.split(',').map(str::trim);
        !entries.any(|entry| target.is_exempt_by(&entry.to_ascii_lowercase()))
    }
}

/// The server of a request.
struct Target {
    host: String,
    address: Option<IpAddr>,
    port: u16,
}

impl Target {
    /// Whether an entry of `NO_PROXY` includes the server.
    fn is_exempt_by(&self, entry: &str) -> bool {
        if entry == "*" {
            return true;
        }
        if let Some((base, length)) = entry.split_once('/') {
            let (Ok(base), Ok(length)) = (base.parse(), length.parse()) else {
                return false;
            };
            return self
                .address
                .is_some_and(|address| is_within(address, base, length));
        }
        let (name, port) = split_port(entry);
        if name.is_empty() || port.is_some_and(|port| port != self.port) {
            return false;
        }
        match name.parse::<IpAddr>() {
            Ok(address) => self.address == Some(address),
            Err(_) => self.address.is_none() && self.is_in_domain(name),
        }
    }

    fn is_in_domain(&self, domain: &str) -> bool {
        let suffix = domain
            .strip_prefix('*')
            .filter(|rest| rest.starts_with('.'))
            .unwrap_or(domain);
        if suffix.starts_with('.') {
            return self.host.ends_with(suffix);
        }
        let before = self.host.strip_suffix(suffix);
        before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
    }
}

/// Splits `host:port` or `[::1]:port`; the port is optional.
fn split_port(entry: &str) -> (&str, Option<u16>) {
    if let Some((address, rest)) = entry
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        return (
            address,
            rest.strip_prefix(':').and_then(|port| port.parse().ok()),
        );
    }
    match entry.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') => (name, port.parse().ok()),
        _ => (entry, None),
    }
}

/// Whether an address is in the block `base/length`.
fn is_within(address: IpAddr, base: IpAddr, length: u32) -> bool {
    let (bits, all, width) = match (address, base) {
        (IpAddr::V4(address), IpAddr::V4(base)) => (
            u128::from(address.to_bits()),
            u128::from(base.to_bits()),
            32,
        ),
        (IpAddr::V6(address), IpAddr::V6(base)) => (address.to_bits(), base.to_bits(), 128),
        _ => return false,
    };
    let Some(ignored) = u32::checked_sub(width, length) else {
        return false;
    };
    bits.checked_shr(ignored) == all.checked_shr(ignored)
}

#[cfg(test)]
mod tests {
    use kube::Config;

    use super::ProxyEnvironment;

    const PROXY: &str = "http://proxy.example.com:3128";

    /// Whether the proxy of the environment applies to a server.
    fn is_proxied(server: &str, exempt: &str) -> bool {
        let environment = ProxyEnvironment {
            https: vec![("HTTPS_PROXY", PROXY.to_owned())],
            exempt: exempt.to_owned(),
        };
        let mut config = Config::new(server.parse().unwrap());
        config.proxy_url = Some(PROXY.parse().unwrap());
        environment.applying(&config).is_some()
    }

    #[test]
    fn environment_proxy_does_not_apply_to_loopback_and_plain_http() {
        for server in [
            "https://127.0.0.1:6443",
            "https://127.8.0.1",
            "https://localhost:6443",
            "https://[::1]:6443",
            "http://10.0.0.1:8080",
        ] {
            assert!(!is_proxied(server, ""), "{server}");
        }
        assert!(is_proxied("https://10.0.0.1:6443", ""));
        assert!(is_proxied("https://kube.example.com", ""));
    }

    /// The cases are those of golang.org/x/net/http/httpproxy's own documentation.
    #[test]
    fn no_proxy_is_interpreted_as_in_go() {
        for (server, exempt, expected) in [
            ("https://10.0.0.1", "*", false),
            ("https://kube.example.com", "other, *", false),
            ("https://kube.example.com", "example.com", false),
            ("https://example.com", "example.com", false),
            ("https://example.com", ".example.com", true),
            ("https://example.com", "*.example.com", true),
            ("https://kube.example.com", ".EXAMPLE.com", false),
            ("https://kube.example.com", "*.example.com", false),
            ("https://Kube.Example.Com.", "kube.example.com", false),
            ("https://badexample.com", "example.com", true),
            ("https://example.com:6443", "example.com:6443", false),
            ("https://example.com:6443", "example.com:443", true),
            ("https://example.com", "example.com:443", false),
            ("https://10.1.2.3:6443", "10.1.2.3", false),
            ("https://10.1.2.3:6443", "10.1.2.3:6443", false),
            ("https://10.1.2.3:6443", "10.1.2.3:443", true),
            ("https://10.1.2.3", "10.0.0.0/8", false),
            ("https://11.1.2.3", "10.0.0.0/8", true),
            ("https://11.1.2.3", "0.0.0.0/0", false),
            ("https://10.1.2.3", "10.0.0.0/33", true),
            ("https://10.1.2.3", "10.0.0.0/x", true),
            ("https://10.1.2.3", "2.3", true),
            ("https://[fd00::1]:6443", "fd00::/8", false),
            ("https://[fd00::1]:6443", "::/0", false),
            ("https://[fd00::1]:6443", "fd00::1", false),
            ("https://[fd00::1]:6443", "[fd00::1]:6443", false),
            ("https://[fd00::1]:6443", "10.0.0.0/8,,", true),
        ] {
            assert_eq!(is_proxied(server, exempt), expected, "{server} {exempt}");
        }
    }

    #[test]
    fn proxy_of_the_kubeconfig_always_applies() {
        let mut config = Config::new("https://127.0.0.1".parse().unwrap());
        config.proxy_url = Some("http://127.0.0.1:2".parse().unwrap());
        let environment = ProxyEnvironment {
            https: vec![("HTTPS_PROXY", PROXY.to_owned())],
            exempt: "*".to_owned(),
        };
        assert!(environment.applying(&config).is_some());
    }
}
