//! Typed access to the arguments of a call.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kubewright_core::Quantity;

use crate::error::EvaluationError;
use crate::values::{Cidr, Key, ListShape, NamedFormat, Url, Value, Version};

/// The values of the arguments of a call, with the receiver first.
///
/// A method that returns an argument as a type fails with `no such overload` if the argument has
/// another type. The table of overloads rules that out, except for an optional argument that a
/// shared implementation reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments<'a>(pub(crate) &'a [Value]);

/// A method that returns the payload of one variant of [`Value`].
macro_rules! payload {
    ($name:ident, $variant:ident, $payload:ty, $value:ident => $result:expr) => {
        pub(super) fn $name(self, index: usize) -> Result<$payload, EvaluationError> {
            match self.value(index)? {
                Value::$variant($value) => Ok($result),
                _ => Err(EvaluationError::no_such_overload()),
            }
        }
    };
}

impl<'a> Arguments<'a> {
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    pub(super) fn value(self, index: usize) -> Result<&'a Value, EvaluationError> {
        self.0
            .get(index)
            .ok_or_else(EvaluationError::no_such_overload)
    }

    payload!(bool, Bool, bool, value => *value);
    payload!(int, Int, i64, number => *number);
    payload!(uint, Uint, u64, number => *number);
    payload!(double, Double, f64, number => *number);
    payload!(string, String, &'a str, text => text);
    payload!(bytes, Bytes, &'a [u8], bytes => bytes);
    payload!(duration, Duration, SignedDuration, duration => *duration);
    payload!(timestamp, Timestamp, Timestamp, time => *time);
    payload!(map, Map, &'a BTreeMap<Key, Value>, entries => entries);
    payload!(optional, Optional, Option<&'a Value>, value => value.as_deref());
    payload!(quantity, Quantity, Quantity, quantity => *quantity);
    payload!(url, Url, &'a Url, url => url);
    payload!(ip, Ip, IpAddr, address => *address);
    payload!(cidr, Cidr, Cidr, cidr => *cidr);
    payload!(semver, Semver, &'a Version, version => version);
    payload!(format, Format, NamedFormat, format => *format);

    pub(super) fn list(self, index: usize) -> Result<&'a [Value], EvaluationError> {
        self.list_with_shape(index).map(|(items, _)| items)
    }

    pub(super) fn list_with_shape(
        self,
        index: usize,
    ) -> Result<(&'a [Value], &'a Arc<ListShape>), EvaluationError> {
        match self.value(index)? {
            Value::List(items, shape) => Ok((items, shape)),
            _ => Err(EvaluationError::no_such_overload()),
        }
    }
}
