use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{At, Told};

/// An address that is not written as it should be (`GetWarningsForIP`).
pub(super) fn address(at: At<'_>, told: &mut Told) {
    let text = at.text();
    let Some(meant) = lenient(text) else {
        return;
    };
    if !is_standard(text) {
        let shown = meant.to_canonical().to_string();
        let detail = format!("non-standard IP address {text:?} is invalid: use {shown:?}");
        told.at(at, &detail);
        return;
    }
    let shown = meant.to_string();
    if meant.is_ipv6() && shown != text {
        let detail =
            format!("IPv6 address {text:?} should be in RFC 5952 canonical format ({shown:?})");
        told.at(at, &detail);
    }
}

/// A range of addresses that is not written as it should be (`GetWarningsForCIDR`).
pub(super) fn range(at: At<'_>, told: &mut Told) {
    let text = at.text();
    let Some(range) = Range::parse(text) else {
        return;
    };
    let network = range.network();
    let is_ambiguous = network.address != range.address;
    let shown = network.shown();
    if is_ambiguous {
        let alone = range.alone();
        let detail = format!(
            "CIDR value {text:?} is ambiguous in this context (should be {shown:?} or {alone:?}?)"
        );
        told.at(at, &detail);
    }
    if !is_standard_range(text) {
        let detail = format!("non-standard CIDR value {text:?} is invalid: use {shown:?}");
        told.at(at, &detail);
        return;
    }
    let plain = format!("{}/{}", range.address, range.length);
    if !is_ambiguous && range.address.is_ipv6() && plain != text {
        let detail =
            format!("IPv6 CIDR value {text:?} should be in RFC 5952 canonical format ({plain:?})");
        told.at(at, &detail);
    }
}

/// `netip.ParseAddr` reads it, and it is no IPv4 address in IPv6's clothes.
fn is_standard(text: &str) -> bool {
    let address: Result<IpAddr, _> = text.parse();
    address.is_ok_and(|address| address.to_canonical() == address)
}

/// The same for `netip.ParsePrefix`.
fn is_standard_range(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    is_standard(address) && (length.len() == 1 || !length.starts_with('0'))
}

/// What older versions read as an address (`ParseIPSloppy`): zeros may stand before numbers.
pub(in crate::kinds) fn lenient(text: &str) -> Option<IpAddr> {
    match text.chars().find(|c| matches!(c, '.' | ':'))? {
        '.' => lenient_four(text).map(IpAddr::V4),
        _ => lenient_six(text).map(IpAddr::V6),
    }
}

fn lenient_four(text: &str) -> Option<Ipv4Addr> {
    let octets: Option<Vec<u8>> = text.split('.').map(number).collect();
    let octets: [u8; 4] = octets?.try_into().ok()?;
    Some(octets.into())
}

fn lenient_six(text: &str) -> Option<Ipv6Addr> {
    let groups: Option<Vec<String>> = text.split(':').map(group).collect();
    groups?.join(":").parse().ok()
}

/// A group of an IPv6 address without the zeros before it.
fn group(text: &str) -> Option<String> {
    if text.contains('.') {
        return lenient_four(text).map(|address| address.to_string());
    }
    Some(match text.trim_start_matches('0') {
        "" if !text.is_empty() => "0".to_owned(),
        rest => rest.to_owned(),
    })
}

fn number(text: &str) -> Option<u8> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

#[derive(Clone, Copy, Debug)]
struct Range {
    address: IpAddr,
    length: u8,
}

impl Range {
    fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        let address = lenient(address)?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let length = number(length).filter(|length| *length <= longest)?;
        Some(Self { address, length })
    }

    /// The range by its first address.
    fn network(self) -> Self {
        let length = u32::from(self.length);
        let address = match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
                IpAddr::V4((u32::from(address) & mask).into())
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
                IpAddr::V6((u128::from(address) & mask).into())
            }
        };
        Self { address, ..self }
    }

    /// The range of the one address.
    fn alone(self) -> String {
        let bits = if self.address.is_ipv4() { 32 } else { 128 };
        format!("{}/{bits}", self.address.to_canonical())
    }

    /// As Go writes it: a range of IPv4 addresses in IPv6's clothes is one of IPv4.
    fn shown(self) -> String {
        let address = self.address.to_canonical();
        let length = match (address, self.address) {
            (IpAddr::V4(_), IpAddr::V6(_)) => self.length.saturating_sub(96),
            _ => self.length,
        };
        format!("{address}/{length}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{At, Told, address, range};

    fn told(tell: fn(At<'_>, &mut Told), text: &str) -> Vec<String> {
        let object = json!({"ip": text});
        let mut told = Told::default();
        tell(At::top(&object, "ip"), &mut told);
        told.into_texts()
    }

    #[test]
    fn addresses_are_told_their_standard_form() {
        for text in [
            "10.0.0.1",
            "fd00::1",
            "::",
            "nowhere",
            "1.2.3",
            "fe80::1%eth0",
        ] {
            assert!(told(address, text).is_empty(), "{text}");
        }
        let cases = [
            ("010.000.0.1", "10.0.0.1"),
            ("::ffff:1.2.3.4", "1.2.3.4"),
            ("::ffff:01.2.3.4", "1.2.3.4"),
            ("fd00:00001::", "fd00:1::"),
        ];
        for (text, standard) in cases {
            let wanted =
                format!("ip: non-standard IP address {text:?} is invalid: use {standard:?}");
            assert_eq!(told(address, text), [wanted]);
        }
        assert_eq!(
            told(address, "FD00:0:0::1"),
            [
                "ip: IPv6 address \"FD00:0:0::1\" should be in RFC 5952 canonical format \
                 (\"fd00::1\")"
            ]
        );
    }

    #[test]
    fn ranges_are_told_what_they_may_mean() {
        for text in [
            "10.0.0.0/8",
            "0.0.0.0/0",
            "fd00::/64",
            "10.0.0.1",
            "10.0.0.0/33",
        ] {
            assert!(told(range, text).is_empty(), "{text}");
        }
        assert_eq!(
            told(range, "10.0.0.1/8"),
            [
                "ip: CIDR value \"10.0.0.1/8\" is ambiguous in this context (should be \
                 \"10.0.0.0/8\" or \"10.0.0.1/32\"?)"
            ]
        );
        assert_eq!(
            told(range, "10.0.0.0/08"),
            ["ip: non-standard CIDR value \"10.0.0.0/08\" is invalid: use \"10.0.0.0/8\""]
        );
        assert_eq!(
            told(range, "::ffff:10.0.0.1/120"),
            [
                "ip: CIDR value \"::ffff:10.0.0.1/120\" is ambiguous in this context (should be \
                 \"10.0.0.0/24\" or \"10.0.0.1/128\"?)",
                "ip: non-standard CIDR value \"::ffff:10.0.0.1/120\" is invalid: use \
                 \"10.0.0.0/24\"",
            ]
        );
        assert_eq!(
            told(range, "FD00::/64"),
            [
                "ip: IPv6 CIDR value \"FD00::/64\" should be in RFC 5952 canonical format \
                 (\"fd00::/64\")"
            ]
        );
    }
}
