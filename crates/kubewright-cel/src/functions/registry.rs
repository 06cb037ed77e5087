//! All functions, by name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::overload::Overload;
use super::{
    addresses, arithmetic, collections, comparison, conversions, format, json_patch, lists, logic,
    named_formats, optionals, quantities, regexes, sets, strings, times, urls, versions,
};

/// The overloads of all libraries. Those of one function keep this order: the estimate of a call
/// with several matching overloads depends on it.
static LIBRARIES: [&[Overload]; 26] = [
    arithmetic::OVERLOADS,
    comparison::EQUALITY,
    &comparison::LESS,
    &comparison::LESS_EQUALS,
    &comparison::GREATER,
    &comparison::GREATER_EQUALS,
    logic::OVERLOADS,
    collections::OVERLOADS,
    conversions::OVERLOADS,
    strings::OVERLOADS,
    regexes::OVERLOADS,
    times::OVERLOADS,
    format::OVERLOADS,
    sets::OVERLOADS,
    lists::OVERLOADS,
    &lists::IS_SORTED,
    &lists::MIN,
    &lists::MAX,
    &lists::SORT,
    urls::OVERLOADS,
    quantities::OVERLOADS,
    addresses::OVERLOADS,
    versions::OVERLOADS,
    named_formats::OVERLOADS,
    optionals::OVERLOADS,
    json_patch::OVERLOADS,
];

/// The overloads of one function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    overloads: &'static [&'static Overload],
}

impl Function {
    /// The function of that name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        static FUNCTIONS: LazyLock<BTreeMap<&'static str, Vec<&'static Overload>>> =
            LazyLock::new(|| {
                let mut functions: BTreeMap<_, Vec<_>> = BTreeMap::new();
                for overload in LIBRARIES.into_iter().flatten() {
                    let name = overload.signature.function;
                    functions.entry(name).or_default().push(overload);
                }
                functions
            });
        let overloads = FUNCTIONS.get(name)?;
        Some(Self { overloads })
    }

    pub(crate) fn overloads(self) -> &'static [&'static Overload] {
        self.overloads
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::net::Ipv4Addr;
    use std::sync::Arc;

    use jiff::{SignedDuration, Timestamp};
    use kubewright_core::Quantity;

    use super::super::overload::CallStyle;
    use super::super::type_pattern::TypePattern;
    use super::{LIBRARIES, Overload};
    use crate::budget::Budget;
    use crate::cost::{Operand, Operands, SizeEstimate};
    use crate::error::EvaluationError;
    use crate::values::{Cidr, Key, NamedFormat, Type, Url, Value, Version};

    /// Overloads of strings and lists whose estimated cost is one in Kubernetes.
    const CONSTANT_IN_KUBERNETES: [&str; 22] = [
        "size_string",
        "string_size",
        "size_bytes",
        "bytes_size",
        "size_list",
        "list_size",
        "index_list",
        "string_to_int64",
        "string_to_uint64",
        "string_to_double",
        "string_to_bool",
        "string_to_string",
        "bytes_to_bytes",
        "string_to_duration",
        "string_to_timestamp",
        "string_char_at_int",
        "matches",
        "is_url_string",
        "format-named",
        "list_first",
        "list_last",
        "string_jsonpatch_escapeKey_string",
    ];

    fn overloads() -> impl Iterator<Item = &'static Overload> {
        LIBRARIES.into_iter().flatten()
    }

    /// A value of a type. Type parameters are `int`.
    fn sample(of: TypePattern) -> Value {
        match of {
            TypePattern::Dyn | TypePattern::Int | TypePattern::Parameter(_) => Value::Int(1),
            TypePattern::Bool => Value::Bool(true),
            TypePattern::Uint => Value::Uint(1),
            TypePattern::Double => Value::Double(1.0),
            TypePattern::String => Value::string("1"),
            TypePattern::Bytes => Value::Bytes(b"1".as_slice().into()),
            TypePattern::Duration => Value::Duration(SignedDuration::from_secs(1)),
            TypePattern::Timestamp => Value::Timestamp(Timestamp::UNIX_EPOCH),
            TypePattern::List(of) => Value::list(vec![sample(*of)]),
            TypePattern::Map(..) => Value::map([(Key::Int(1), Value::Int(1))].into()),
            TypePattern::Optional(of) => Value::some(sample(*of)),
            TypePattern::Type(_) => Value::Type("int".into()),
            TypePattern::Opaque("kubernetes.Quantity") => Value::Quantity(Quantity::zero()),
            TypePattern::Opaque("kubernetes.URL") => Value::Url(Arc::new(Url::parse("/").unwrap())),
            TypePattern::Opaque("net.IP") => Value::Ip(Ipv4Addr::LOCALHOST.into()),
            TypePattern::Opaque("net.CIDR") => Value::Cidr(Cidr::parse("127.0.0.0/8").unwrap()),
            TypePattern::Opaque("kubernetes.Semver") => {
                Value::Semver(Arc::new(Version::parse("1.2.3").unwrap()))
            }
            TypePattern::Opaque("kubernetes.NamedFormat") => {
                Value::Format(NamedFormat::find("uuid").unwrap())
            }
            TypePattern::Opaque(name) => panic!("no sample of {name}"),
        }
    }

    #[test]
    fn identifiers_and_signatures_of_overloads_are_unique() {
        let (mut ids, mut signatures) = (BTreeSet::new(), BTreeSet::new());
        for overload in overloads() {
            assert!(ids.insert(overload.id), "{overload:?}");
            let signature = &overload.signature;
            let shown = format!(
                "{} {:?} {:?}",
                signature.function, signature.style, signature.parameters
            );
            assert!(signatures.insert(shown), "{overload:?}");
            let has_receiver = !signature.parameters.is_empty();
            assert!(
                signature.style == CallStyle::Global || has_receiver,
                "{overload:?}"
            );
        }
    }

    #[test]
    fn overloads_accept_and_return_values_of_the_types_in_their_signatures() {
        for overload in overloads() {
            let signature = &overload.signature;
            let arguments: Vec<Value> = signature.parameters.iter().copied().map(sample).collect();
            assert!(overload.accepts(&arguments), "{overload:?}");
            let result = overload.call(&arguments, &mut Budget::default());
            let is_run_by_evaluator =
                matches!(overload.id, "logical_and" | "logical_or" | "conditional");
            let has_no_implementation =
                is_run_by_evaluator || overload.unsupported_name().is_some();
            match result {
                Ok(value) => assert!(signature.result.accepts(&value), "{overload:?}: {value:?}"),
                Err(error) => assert_eq!(
                    error == EvaluationError::no_such_overload(),
                    has_no_implementation,
                    "{overload:?}: {error}"
                ),
            }
        }
    }

    /// A new overload of a string or a list declares what it costs, unless Kubernetes has no
    /// estimate for it either.
    #[test]
    fn overloads_of_strings_and_lists_have_an_estimate_by_their_sizes() {
        let is_sized = |of: &TypePattern| {
            matches!(
                of,
                TypePattern::String | TypePattern::Bytes | TypePattern::List(_)
            )
        };
        let operand = Operand {
            of: &Type::Dyn,
            size: Some(SizeEstimate::UNKNOWN),
            item_size: SizeEstimate::UNKNOWN,
            literal: None,
        };
        let constant: Vec<&str> = overloads()
            .filter(|overload| overload.signature.parameters.iter().any(is_sized))
            .filter(|overload| {
                let operands = vec![operand; overload.signature.parameters.len()];
                let estimate = (overload.estimator)(Operands(&operands));
                estimate.cost == 1 && estimate.size.is_none()
            })
            .filter(|overload| overload.unsupported_name().is_none())
            .map(|overload| overload.id)
            .collect();
        assert_eq!(constant, CONSTANT_IN_KUBERNETES);
    }
}
