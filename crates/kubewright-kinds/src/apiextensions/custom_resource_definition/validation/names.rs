//! The names of a definition.

use kubewright_core::NameRule;
use kubewright_wire::status::Cause;
use serde_json::Value;

use crate::json::{items, text};

/// The errors of `spec.names`.
pub(super) fn check_names(names: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let problems = |name: &str| NameRule::Dns1035.problems(name).join(",");
    for field in ["plural", "singular"] {
        let name = text(&names[field]);
        let detail = problems(name);
        if !name.is_empty() && !detail.is_empty() {
            let path = format!("spec.names.{field}");
            causes.push(Cause::invalid(&path, &names[field], &detail));
        }
    }
    for field in ["kind", "listKind"] {
        let name = text(&names[field]);
        let mismatch = problems(&name.to_lowercase());
        if !name.is_empty() && !mismatch.is_empty() {
            let detail = format!("may have mixed case, but should otherwise match: {mismatch}");
            let path = format!("spec.names.{field}");
            causes.push(Cause::invalid(&path, &names[field], &detail));
        }
    }
    causes.extend(each(names, "shortNames"));
    if !text(&names["kind"]).is_empty() && names["kind"] == names["listKind"] {
        let detail = "kind and listKind may not be the same";
        causes.push(Cause::invalid(
            "spec.names.listKind",
            &names["listKind"],
            detail,
        ));
    }
    causes.extend(each(names, "categories"));
    causes
}

fn each(names: &Value, field: &str) -> Vec<Cause> {
    let all = items(&names[field]).enumerate();
    all.filter_map(|(index, name)| {
        let problems = NameRule::Dns1035.problems(text(name));
        let path = format!("spec.names.{field}[{index}]");
        (!problems.is_empty()).then(|| Cause::invalid(&path, name, &problems.join(",")))
    })
    .collect()
}
