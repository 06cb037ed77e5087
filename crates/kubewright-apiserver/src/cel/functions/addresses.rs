use std::fmt;
use std::net::IpAddr;

use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::Value;

/// A range of addresses, such as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cidr {
    address: IpAddr,
    length: u8,
}

impl Cidr {
    fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        let address = parse(address).ok()?;
        let is_plain = !length.is_empty()
            && length.bytes().all(|byte| byte.is_ascii_digit())
            && (length == "0" || !length.starts_with('0'));
        let most = if address.is_ipv4() { 32 } else { 128 };
        let length = length
            .parse()
            .ok()
            .filter(|length| is_plain && *length <= most)?;
        Some(Self { address, length })
    }

    fn bits(address: IpAddr) -> u128 {
        match address {
            IpAddr::V4(address) => u128::from(u32::from(address)) << 96,
            IpAddr::V6(address) => u128::from(address),
        }
    }

    fn mask(self) -> u128 {
        u128::MAX
            .checked_shl(128 - u32::from(self.length))
            .unwrap_or(0)
    }

    fn contains(self, address: IpAddr) -> bool {
        let same_family = self.address.is_ipv4() == address.is_ipv4();
        same_family && (Self::bits(self.address) ^ Self::bits(address)) & self.mask() == 0
    }

    fn contains_range(self, other: Self) -> bool {
        other.length >= self.length && self.contains(other.address)
    }

    fn masked(self) -> Self {
        let bits = Self::bits(self.address) & self.mask();
        let address = match self.address {
            IpAddr::V4(_) => {
                let bits = u32::try_from(bits >> 96).unwrap_or_default();
                IpAddr::V4(bits.into())
            }
            IpAddr::V6(_) => IpAddr::V6(bits.into()),
        };
        Self { address, ..self }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

pub(super) fn call(name: &str, args: &[Value]) -> Option<Evaluated> {
    Some(match (name, args) {
        ("ip", [Value::String(text)]) => parse(text).map(Value::Ip),
        ("isIP", [Value::String(text)]) => Ok(Value::Bool(parse(text).is_ok())),
        ("ip.isCanonical", [Value::String(text)]) => {
            parse(text).map(|address| Value::Bool(address.to_string() == **text))
        }
        ("cidr", [Value::String(text)]) => range(text).map(Value::Cidr),
        ("isCIDR", [Value::String(text)]) => Ok(Value::Bool(Cidr::parse(text).is_some())),
        (_, [Value::Ip(address)]) => return of_address(name, *address),
        ("ip", [Value::Cidr(cidr)]) => Ok(Value::Ip(cidr.address)),
        ("prefixLength", [Value::Cidr(cidr)]) => Ok(Value::Int(i64::from(cidr.length))),
        ("masked", [Value::Cidr(cidr)]) => Ok(Value::Cidr(cidr.masked())),
        ("containsIP", [Value::Cidr(cidr), Value::Ip(address)]) => {
            Ok(Value::Bool(cidr.contains(*address)))
        }
        ("containsIP", [Value::Cidr(cidr), Value::String(text)]) => {
            parse(text).map(|address| Value::Bool(cidr.contains(address)))
        }
        ("containsCIDR", [Value::Cidr(cidr), Value::Cidr(other)]) => {
            Ok(Value::Bool(cidr.contains_range(*other)))
        }
        ("containsCIDR", [Value::Cidr(cidr), Value::String(text)]) => {
            range(text).map(|other| Value::Bool(cidr.contains_range(other)))
        }
        _ => return None,
    })
}

fn parse(text: &str) -> Result<IpAddr, Fault> {
    let address: IpAddr = text.parse().map_err(|_| {
        Fault::new(format!(
            "IP Address {text:?} parse error during conversion from string: \
             ParseAddr({text:?}): unable to parse IP"
        ))
    })?;
    match address {
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => Err(Fault::new(format!(
            "IPv4-mapped IPv6 address {text:?} is not allowed"
        ))),
        address => Ok(address),
    }
}

fn range(text: &str) -> Result<Cidr, Fault> {
    Cidr::parse(text).ok_or_else(|| {
        Fault::new(format!(
            "network address parse error during conversion from string: \
             netip.ParsePrefix({text:?}): cannot parse"
        ))
    })
}

fn of_address(name: &str, address: IpAddr) -> Option<Evaluated> {
    let is_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    let answer = match name {
        "family" => return Some(Ok(Value::Int(if address.is_ipv4() { 4 } else { 6 }))),
        "isUnspecified" => address.is_unspecified(),
        "isLoopback" => address.is_loopback(),
        "isLinkLocalMulticast" => match address {
            IpAddr::V4(address) => matches!(address.octets(), [224, 0, 0, _]),
            IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
        },
        "isLinkLocalUnicast" => is_local,
        "isGlobalUnicast" => {
            let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
            !(address.is_unspecified()
                || address.is_loopback()
                || address.is_multicast()
                || is_local
                || is_broadcast)
        }
        _ => return None,
    };
    Some(Ok(Value::Bool(answer)))
}
