//! URLs (k8s.io/apiserver/pkg/cel/library/urls.go).

use std::sync::Arc;

use super::arguments::Arguments;
use super::overload::{Overload, global, member};
use super::type_pattern::{BOOL, LIST_OF_STRING, STRING, TypePattern};
use crate::budget::Budget;
use crate::cost::{CallEstimate, constant};
use crate::error::EvaluationError;
use crate::values::{EvaluationResult, Key, Url, Value};

const URL: TypePattern = TypePattern::Opaque("kubernetes.URL");
const QUERY: TypePattern = TypePattern::Map(&STRING, &LIST_OF_STRING);

pub(super) static OVERLOADS: &[Overload] = &[
    global("url", &[STRING], URL).overload("string_to_url", string_to_url, |operands| {
        CallEstimate::sized(operands.traversal(0), operands.size(0))
    }),
    global("isURL", &[STRING], BOOL).overload(
        "is_url_string",
        |args, _| Ok(Value::Bool(Url::parse(args.string(0)?).is_ok())),
        constant,
    ),
    member("getScheme", &[URL], STRING).overload(
        "url_get_scheme",
        |args, _| Ok(Value::string(&args.url(0)?.scheme)),
        constant,
    ),
    member("getHost", &[URL], STRING).overload(
        "url_get_host",
        |args, _| Ok(Value::string(&args.url(0)?.host)),
        constant,
    ),
    member("getHostname", &[URL], STRING).overload(
        "url_get_hostname",
        |args, _| Ok(Value::string(args.url(0)?.hostname())),
        constant,
    ),
    member("getPort", &[URL], STRING).overload(
        "url_get_port",
        |args, _| Ok(Value::string(args.url(0)?.port())),
        constant,
    ),
    member("getEscapedPath", &[URL], STRING).overload(
        "url_get_escaped_path",
        |args, _| Ok(Value::string(&args.url(0)?.path)),
        constant,
    ),
    member("getQuery", &[URL], QUERY).overload("url_get_query", query, constant),
];

fn string_to_url(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    match Url::parse(args.string(0)?) {
        Ok(url) => Ok(Value::Url(Arc::new(url))),
        Err(error) => Err(EvaluationError::new(format!(
            "URL parse error during conversion from string: {error}"
        ))),
    }
}

fn query(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let parameters = args.url(0)?.query_parameters().into_iter();
    let entries = parameters.map(|(name, values)| {
        let values = values.iter().map(|value| Value::string(value)).collect();
        (Key::String(name.into()), Value::list(values))
    });
    Ok(Value::map(entries.collect()))
}
