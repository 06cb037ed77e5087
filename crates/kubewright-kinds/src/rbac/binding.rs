//! What RoleBinding and ClusterRoleBinding have in common.

use kubewright_core::NameRule;
use kubewright_core::format::subdomain;
use serde_json::{Map, Value, json};

use super::rules::Reach;
use crate::columns::{AGE, Cell, Column, NAME, Row};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::json::{objects_mut, set_absent, text};

pub(super) const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Role", Cell::Computed(role_cell)),
    AGE,
    Column::text("Users", Cell::Computed(|row| subjects_cell(row, "User"))).wide(),
    Column::text("Groups", Cell::Computed(|row| subjects_cell(row, "Group"))).wide(),
    Column::text(
        "ServiceAccounts",
        Cell::Computed(|row| subjects_cell(row, "ServiceAccount")),
    )
    .wide(),
];

fn role_cell(row: &Row<'_>) -> Value {
    let (kind, name) = (row.text("/roleRef/kind"), row.text("/roleRef/name"));
    json!(format!("{kind}/{name}"))
}

fn subjects_cell(row: &Row<'_>, kind: &str) -> Value {
    let subjects = row.list("/subjects").iter();
    let of_kind = subjects.filter(|subject| subject["kind"] == kind);
    let names = of_kind.map(|subject| {
        let name = text(&subject["name"]);
        match (kind, text(&subject["namespace"])) {
            ("ServiceAccount", namespace) if !namespace.is_empty() => {
                format!("{namespace}/{name}")
            }
            _ => name.to_owned(),
        }
    });
    json!(names.collect::<Vec<_>>().join(", "))
}

/// `SetDefaults_Subject`.
pub(super) fn default_subjects(object: &mut Map<String, Value>) {
    for subject in objects_mut(object.get_mut("subjects")) {
        let kind = subject.get("kind").and_then(Value::as_str);
        if matches!(kind, Some("User" | "Group")) {
            set_absent(subject, "apiGroup", json!(groups::RBAC));
        }
    }
}

/// Validates the reference to the role, which is of one of some kinds.
pub(super) fn validate_role_ref(object: &Value, kinds: &[&str], errors: &mut ErrorList) {
    let role = FieldPath::new(object, "roleRef");
    if role.text_of("apiGroup") != groups::RBAC {
        errors.unsupported(role.field("apiGroup"), &[groups::RBAC]);
    }
    if !kinds.contains(&role.text_of("kind")) {
        errors.unsupported(role.field("kind"), kinds);
    }
    let name = role.field("name");
    match name.text() {
        "" => errors.required(name, ""),
        text => errors.problems(name, NameRule::PathSegment.problems(text)),
    }
}

pub(super) fn validate_subjects(object: &Value, reach: Reach, errors: &mut ErrorList) {
    for subject in FieldPath::new(object, "subjects").items() {
        validate_subject(subject, reach, errors);
    }
}

fn validate_subject(at: FieldPath<'_>, reach: Reach, errors: &mut ErrorList) {
    let name = at.field("name");
    if name.text().is_empty() {
        errors.required(name, "");
    }
    match at.text_of("kind") {
        "ServiceAccount" => {
            if !name.text().is_empty() {
                errors.problems(name, subdomain(name.text()));
            }
            if !at.text_of("apiGroup").is_empty() {
                errors.unsupported(at.field("apiGroup"), &[""]);
            }
            if reach == Reach::Cluster && at.text_of("namespace").is_empty() {
                errors.required(at.field("namespace"), "");
            }
        }
        "User" | "Group" if at.text_of("apiGroup") != groups::RBAC => {
            errors.unsupported(at.field("apiGroup"), &[groups::RBAC]);
        }
        "User" | "Group" => {}
        _ => errors.unsupported(at.field("kind"), &["ServiceAccount", "User", "Group"]),
    }
}

/// The role of a binding is immutable: a user who may change the subjects of a binding must not be
/// able to grant another role (`ValidateRoleBindingUpdate` of pkg/apis/rbac/validation).
pub(super) fn validate_same_role(object: &Value, old: &Value, errors: &mut ErrorList) {
    let (before, after) = (go_role_ref(old), go_role_ref(object));
    if before != after {
        let role = FieldPath::new(object, "roleRef");
        errors.invalid_value(role, &after, "cannot change roleRef");
    }
}

/// The reference as Go prints it. An empty group means that of roles.
fn go_role_ref(binding: &Value) -> Value {
    let role = &binding["roleRef"];
    let group = match text(&role["apiGroup"]) {
        "" => groups::RBAC,
        group => group,
    };
    json!({"APIGroup": group, "Kind": text(&role["kind"]), "Name": text(&role["name"])})
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ErrorList, groups, validate_same_role};

    fn errors(old: Value, new: Value) -> Vec<String> {
        let (old, new) = (json!({"roleRef": old}), json!({"roleRef": new}));
        let mut errors = ErrorList::default();
        validate_same_role(&new, &old, &mut errors);
        errors.into_messages()
    }

    #[test]
    fn role_of_a_binding_is_immutable() {
        let view = json!({"kind": "ClusterRole", "name": "view"});
        let grouped = json!({"apiGroup": groups::RBAC, "kind": "ClusterRole", "name": "view"});
        let admin = json!({"apiGroup": groups::RBAC, "kind": "ClusterRole", "name": "admin"});
        assert!(errors(view, grouped.clone()).is_empty());
        assert_eq!(
            errors(grouped, admin),
            [
                "roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\
                 \"Kind\":\"ClusterRole\",\"Name\":\"admin\"}: cannot change roleRef"
            ]
        );
    }
}
