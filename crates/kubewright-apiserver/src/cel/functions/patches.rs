use crate::cel::evaluate::Evaluated;
use crate::cel::value::Value;

/// `jsonpatch.escapeKey('a/b')` (k8s.io/apiserver/pkg/cel/library/jsonpatch.go).
pub(super) fn call(name: &str, args: &[Value]) -> Option<Evaluated> {
    match (name, args) {
        ("jsonpatch.escapeKey", [Value::String(key)]) => {
            let escaped = key.replace('~', "~0").replace('/', "~1");
            Some(Ok(Value::text(&escaped)))
        }
        _ => None,
    }
}
