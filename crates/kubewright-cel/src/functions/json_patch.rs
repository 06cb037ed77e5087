//! Functions for JSON patches (k8s.io/apiserver/pkg/cel/library/jsonpatch.go).

use super::overload::{Overload, global};
use super::type_pattern::STRING;
use crate::cost::constant;
use crate::values::Value;

pub(super) static OVERLOADS: &[Overload] = &[global("jsonpatch.escapeKey", &[STRING], STRING)
    .overload(
        "string_jsonpatch_escapeKey_string",
        |args, _| {
            let escaped = args.string(0)?.replace('~', "~0").replace('/', "~1");
            Ok(Value::string(&escaped))
        },
        constant,
    )
    .for_mutations()];
