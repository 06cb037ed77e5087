//! References to images in a registry.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A reference to an image: `registry.example.com/team/sites:0.1.0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// Host and port.
    pub(super) registry: String,
    pub(super) repository: String,
    pub(super) tag: String,
}

impl Reference {
    /// Returns the scheme of the registry: as in the other image tools, a registry on loopback needs no
    /// certificate.
    pub(super) fn scheme(&self) -> &'static str {
        let host = self
            .registry
            .rsplit_once(':')
            .map_or(self.registry.as_str(), |(host, _)| host);
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        let is_loopback = address.is_ok_and(|address| address.is_loopback());
        if host == "localhost" || is_loopback {
            "http"
        } else {
            "https"
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            registry,
            repository,
            tag,
        } = self;
        write!(f, "{registry}/{repository}:{tag}")
    }
}

impl FromStr for Reference {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || "expected a registry, a repository and a tag: r.example.com/sites:0.1.0".to_owned();
        let (registry, rest) = text.split_once('/').ok_or_else(expected)?;
        let is_host = registry == "localhost" || registry.contains(['.', ':']);
        let (repository, tag) = rest.rsplit_once(':').unwrap_or((rest, "latest"));
        let in_path = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/._-".contains(c);
        let in_tag = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let is_complete = is_host
            && !repository.is_empty()
            && repository.chars().all(in_path)
            && (1..=128).contains(&tag.len())
            && tag.chars().all(in_tag);
        if !is_complete {
            return Err(expected());
        }
        Ok(Self {
            registry: registry.to_owned(),
            repository: repository.to_owned(),
            tag: tag.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Reference;

    #[test]
    fn reference_has_a_registry_a_repository_and_a_tag() {
        let parse = |text: &str| {
            text.parse::<Reference>()
                .map(|reference| reference.to_string())
        };
        assert_eq!(
            parse("localhost:5000/a/b:1").unwrap(),
            "localhost:5000/a/b:1"
        );
        assert_eq!(
            parse("r.example.com/sites").unwrap(),
            "r.example.com/sites:latest"
        );
        for wrong in [
            "sites:1",
            "team/sites:1",
            "r.io/Sites",
            "r.io/a:b c",
            "r.io/",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_registries_on_loopback_are_used_without_tls() {
        let scheme = |text: &str| text.parse::<Reference>().unwrap().scheme();
        assert_eq!(scheme("localhost:5000/a"), "http");
        assert_eq!(scheme("127.0.0.1:5000/a"), "http");
        assert_eq!(scheme("[::1]:5000/a"), "http");
        assert_eq!(scheme("127.example.com/a:1"), "https");
        assert_eq!(scheme("r.example.com:5000/a"), "https");
    }
}
