//! IP addresses and networks as Kubernetes' CEL library reads them.

use std::fmt;
use std::net::IpAddr;

use crate::error::EvaluationError;

/// A network, such as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    address: IpAddr,
    prefix_length: u8,
}

impl Cidr {
    /// Parses a network; `None` if the text is not one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        let address = parse_ip(address).ok()?;
        let is_plain = !length.is_empty()
            && length.bytes().all(|byte| byte.is_ascii_digit())
            && (length == "0" || !length.starts_with('0'));
        let max_length = if address.is_ipv4() { 32 } else { 128 };
        let prefix_length = length
            .parse()
            .ok()
            .filter(|length| is_plain && *length <= max_length)?;
        Some(Self {
            address,
            prefix_length,
        })
    }

    pub(crate) fn address(self) -> IpAddr {
        self.address
    }

    pub(crate) fn prefix_length(self) -> u8 {
        self.prefix_length
    }

    /// The bits of an address, from the left.
    fn bits(address: IpAddr) -> u128 {
        match address {
            IpAddr::V4(address) => u128::from(u32::from(address)) << 96,
            IpAddr::V6(address) => u128::from(address),
        }
    }

    fn mask(self) -> u128 {
        u128::MAX
            .checked_shl(128 - u32::from(self.prefix_length))
            .unwrap_or(0)
    }

    pub(crate) fn contains(self, address: IpAddr) -> bool {
        let same_family = self.address.is_ipv4() == address.is_ipv4();
        same_family && (Self::bits(self.address) ^ Self::bits(address)) & self.mask() == 0
    }

    pub(crate) fn contains_network(self, other: Self) -> bool {
        other.prefix_length >= self.prefix_length && self.contains(other.address)
    }

    /// The network with all bits of its address beyond the prefix set to zero.
    pub(crate) fn masked(self) -> Self {
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
        write!(f, "{}/{}", self.address, self.prefix_length)
    }
}

/// Parses an address. IPv4 addresses mapped to IPv6 are invalid.
pub(crate) fn parse_ip(text: &str) -> Result<IpAddr, EvaluationError> {
    let address: IpAddr = text.parse().map_err(|_| {
        EvaluationError::new(format!(
            "IP Address {text:?} parse error during conversion from string: \
             ParseAddr({text:?}): unable to parse IP"
        ))
    })?;
    match address {
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => Err(EvaluationError::new(
            format!("IPv4-mapped IPv6 address {text:?} is not allowed"),
        )),
        address => Ok(address),
    }
}
