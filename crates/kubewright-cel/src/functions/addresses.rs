//! IP addresses and networks (k8s.io/apiserver/pkg/cel/library/ip.go and cidr.go).

use std::net::IpAddr;

use super::arguments::Arguments;
use super::conversions::to_string;
use super::overload::{Overload, global, member};
use super::type_pattern::{BOOL, INT, STRING, TypePattern};
use crate::cost::{CallEstimate, Operands, STRING_CHARACTER, constant, scale};
use crate::error::EvaluationError;
use crate::values::{Cidr, EvaluationResult, Value, parse_ip};

const IP: TypePattern = TypePattern::Opaque("net.IP");
const CIDR: TypePattern = TypePattern::Opaque("net.CIDR");

/// The bytes of the longest address.
const MAX_ADDRESS_BYTES: u64 = 16;

pub(super) static OVERLOADS: &[Overload] = &[
    global("string", &[IP], STRING).overload("ip_to_string", to_string, constant),
    global("string", &[CIDR], STRING).overload("cidr_to_string", to_string, constant),
    global("ip", &[STRING], IP).overload(
        "string_to_ip",
        |args, _| parse_ip(args.string(0)?).map(Value::Ip),
        parse_estimate,
    ),
    member("ip", &[CIDR], IP).overload(
        "cidr_ip",
        |args, _| Ok(Value::Ip(args.cidr(0)?.address())),
        constant,
    ),
    global("isIP", &[STRING], BOOL).overload(
        "is_ip",
        |args, _| Ok(Value::Bool(parse_ip(args.string(0)?).is_ok())),
        parse_estimate,
    ),
    global("ip.isCanonical", &[STRING], BOOL).overload(
        "ip_is_canonical",
        |args, _| {
            let text = args.string(0)?;
            let address = parse_ip(text)?;
            Ok(Value::Bool(address.to_string() == text))
        },
        |operands| CallEstimate::cost(operands.size(0).cost(2.0 * STRING_CHARACTER)),
    ),
    member("family", &[IP], INT).overload(
        "ip_family",
        |args, _| Ok(Value::Int(if args.ip(0)?.is_ipv4() { 4 } else { 6 })),
        constant,
    ),
    member("isUnspecified", &[IP], BOOL).overload(
        "ip_is_unspecified",
        |args, _| Ok(Value::Bool(args.ip(0)?.is_unspecified())),
        constant,
    ),
    member("isLoopback", &[IP], BOOL).overload(
        "ip_is_loopback",
        |args, _| Ok(Value::Bool(args.ip(0)?.is_loopback())),
        constant,
    ),
    member("isLinkLocalMulticast", &[IP], BOOL).overload(
        "ip_is_link_local_multicast",
        |args, _| Ok(Value::Bool(is_link_local_multicast(args.ip(0)?))),
        constant,
    ),
    member("isLinkLocalUnicast", &[IP], BOOL).overload(
        "ip_is_link_local_unicast",
        |args, _| Ok(Value::Bool(is_link_local_unicast(args.ip(0)?))),
        constant,
    ),
    member("isGlobalUnicast", &[IP], BOOL).overload(
        "ip_is_global_unicast",
        |args, _| Ok(Value::Bool(is_global_unicast(args.ip(0)?))),
        constant,
    ),
    global("cidr", &[STRING], CIDR).overload(
        "string_to_cidr",
        |args, _| parse_cidr(args.string(0)?).map(Value::Cidr),
        parse_estimate,
    ),
    global("isCIDR", &[STRING], BOOL).overload(
        "is_cidr",
        |args, _| Ok(Value::Bool(Cidr::parse(args.string(0)?).is_some())),
        parse_estimate,
    ),
    member("containsIP", &[CIDR, STRING], BOOL).overload(
        "cidr_contains_ip_string",
        |args, _| contains_ip(args, parse_ip(args.string(1)?)?),
        |operands| contains_ip_estimate(operands.traversal(1)),
    ),
    member("containsIP", &[CIDR, IP], BOOL).overload(
        "cidr_contains_ip_ip",
        |args, _| contains_ip(args, args.ip(1)?),
        |_| contains_ip_estimate(0),
    ),
    member("containsCIDR", &[CIDR, STRING], BOOL).overload(
        "cidr_contains_cidr_string",
        |args, _| contains_cidr(args, parse_cidr(args.string(1)?)?),
        |operands| contains_cidr_estimate(operands.traversal(1)),
    ),
    member("containsCIDR", &[CIDR, CIDR], BOOL).overload(
        "cidr_contains_cidr",
        |args, _| contains_cidr(args, args.cidr(1)?),
        |_| contains_cidr_estimate(0),
    ),
    member("prefixLength", &[CIDR], INT).overload(
        "cidr_prefix_length",
        |args, _| Ok(Value::Int(i64::from(args.cidr(0)?.prefix_length()))),
        constant,
    ),
    member("masked", &[CIDR], CIDR).overload(
        "cidr_masked",
        |args, _| Ok(Value::Cidr(args.cidr(0)?.masked())),
        constant,
    ),
];

fn parse_cidr(text: &str) -> Result<Cidr, EvaluationError> {
    Cidr::parse(text).ok_or_else(|| {
        EvaluationError::new(format!(
            "network address parse error during conversion from string: \
             netip.ParsePrefix({text:?}): cannot parse"
        ))
    })
}

fn contains_ip(args: Arguments<'_>, address: IpAddr) -> EvaluationResult {
    Ok(Value::Bool(args.cidr(0)?.contains(address)))
}

fn contains_cidr(args: Arguments<'_>, other: Cidr) -> EvaluationResult {
    Ok(Value::Bool(args.cidr(0)?.contains_network(other)))
}

fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => matches!(address.octets(), [224, 0, 0, _]),
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    }
}

fn is_link_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// Go's `IsGlobalUnicast`: private addresses are global.
fn is_global_unicast(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !(address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || is_link_local_unicast(address)
        || is_broadcast)
}

fn parse_estimate(operands: Operands<'_>) -> CallEstimate {
    CallEstimate::cost(operands.traversal(0))
}

/// `parse` is the cost of parsing the argument, if it is a string.
fn contains_ip_estimate(parse: u64) -> CallEstimate {
    let compare = scale(2 * MAX_ADDRESS_BYTES, STRING_CHARACTER);
    CallEstimate::cost(parse.saturating_add(compare))
}

fn contains_cidr_estimate(parse: u64) -> CallEstimate {
    let compare = scale(2 * MAX_ADDRESS_BYTES, STRING_CHARACTER)
        + scale(MAX_ADDRESS_BYTES, STRING_CHARACTER)
        + 1;
    CallEstimate::cost(parse.saturating_add(compare))
}
