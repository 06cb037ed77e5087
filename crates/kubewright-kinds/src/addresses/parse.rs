//! Parsing of addresses and ranges as older versions of Kubernetes do.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Parses an address with leading zeros as older versions do (`ParseIPSloppy`).
pub(crate) fn parse_sloppy(text: &str) -> Option<IpAddr> {
    match text.chars().find(|c| matches!(c, '.' | ':'))? {
        '.' => parse_ipv4(text).map(IpAddr::V4),
        _ => parse_ipv6(text).map(IpAddr::V6),
    }
}

fn parse_ipv4(text: &str) -> Option<Ipv4Addr> {
    let numbers: Option<Vec<u8>> = text.split('.').map(number).collect();
    let octets: [u8; 4] = numbers?.try_into().ok()?;
    Some(octets.into())
}

fn parse_ipv6(text: &str) -> Option<Ipv6Addr> {
    let groups: Option<Vec<String>> = text.split(':').map(group).collect();
    groups?.join(":").parse().ok()
}

/// A group of an IPv6 address without leading zeros.
fn group(text: &str) -> Option<String> {
    if text.contains('.') {
        return parse_ipv4(text).map(|address| address.to_string());
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

/// A range of addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cidr {
    pub(super) address: IpAddr,
    pub(super) length: u8,
}

impl Cidr {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        let address = parse_sloppy(address)?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let length = number(length).filter(|length| *length <= longest)?;
        Some(Self { address, length })
    }

    /// The range with the host bits of its address cleared.
    pub(super) fn network(self) -> Self {
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

    /// The range that has only this address.
    pub(super) fn single_address(self) -> String {
        let bits = if self.address.is_ipv4() { 32 } else { 128 };
        format!("{}/{bits}", self.address.to_canonical())
    }

    /// The range as Go prints it, with IPv4-mapped addresses as IPv4.
    pub(super) fn to_go_string(self) -> String {
        let address = self.address.to_canonical();
        let length = match (address, self.address) {
            (IpAddr::V4(_), IpAddr::V6(_)) => self.length.saturating_sub(96),
            _ => self.length,
        };
        format!("{address}/{length}")
    }
}
