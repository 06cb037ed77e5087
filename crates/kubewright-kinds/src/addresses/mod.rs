//! IP addresses and CIDR ranges: parsing as older versions of Kubernetes do, validation, warnings.

mod parse;
mod validation;
mod warnings;

pub(crate) use parse::parse_sloppy;
pub(crate) use validation::{is_ip, known_ips, validate_ip, validate_new_ip};
pub(crate) use warnings::{warn_cidr, warn_ip};
