//! Encodings of responses that do not depend on objects.

mod accept;
mod hex;
mod response;

pub(crate) use accept::{Format, Subject, Transform, accepted, not_acceptable, ranges};
pub(crate) use hex::hex;
pub(crate) use response::{response, text_response, value_response};
