//! The parameters of requests.

use kubewright_wire::route::Query;
use kubewright_wire::status::{Cause, CauseKind, Status};
use serde_json::{Value, json};

const META: &str = "meta.k8s.io";
const MAX_MANAGER_BYTES: usize = 128;

/// The parameters of a create, update or patch.
#[derive(Clone, Debug)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: DryRun,
    pub(crate) field_manager: Option<String>,
    pub(crate) field_validation: FieldValidation,
    pub(crate) force: Option<bool>,
}

/// Whether a request only shows what it would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DryRun {
    No,
    Yes,
}

/// What happens to fields that the kind does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    /// They are dropped.
    Ignore,
    /// They are dropped, and the client is warned.
    Warn,
    /// The request is rejected.
    Strict,
}

impl WriteOptions {
    /// Parses the parameters. `kind` names them in errors: `CreateOptions`.
    pub(crate) fn parse(query: &Query, kind: &str) -> Result<Self, Status> {
        let mut causes = Vec::new();
        let dry_run = parse_dry_run(query, &mut causes);
        let field_manager = query.get("fieldManager").filter(|name| !name.is_empty());
        if let Some(name) = field_manager {
            check_manager(name, &mut causes);
        }
        let field_validation = match query.get("fieldValidation").unwrap_or_default() {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                causes.push(Cause::not_supported(
                    "fieldValidation",
                    &json!(other),
                    &["", "Ignore", "Strict", "Warn"],
                ));
                FieldValidation::Warn
            }
        };
        let force = query.get("force").map(|_| query.is_set("force"));
        if !causes.is_empty() {
            return Err(Status::invalid_as(META, kind, "", causes));
        }
        Ok(Self {
            dry_run,
            field_manager: field_manager.map(str::to_owned),
            field_validation,
            force,
        })
    }

    /// The field manager of a write other than apply: the parameter, else the program in the user
    /// agent up to the first slash.
    pub(crate) fn manager(&self, user_agent: &str) -> String {
        if let Some(name) = &self.field_manager {
            return name.clone();
        }
        let program = user_agent.split('/').next().unwrap_or_default();
        let printable: String = program.chars().filter(|c| !c.is_control()).collect();
        let mut name = String::new();
        for c in printable.chars() {
            if name.len() + c.len_utf8() > MAX_MANAGER_BYTES {
                break;
            }
            name.push(c);
        }
        if name.is_empty() {
            return "unknown".to_owned();
        }
        name
    }
}

/// Parses `dryRun`, whose only value is `All`.
fn parse_dry_run(query: &Query, causes: &mut Vec<Cause>) -> DryRun {
    let values: Vec<&str> = query
        .all("dryRun")
        .filter(|value| !value.is_empty())
        .collect();
    if values.iter().any(|value| *value != "All") {
        causes.push(Cause::not_supported("dryRun", &json!(values), &["All"]));
    }
    if values.is_empty() {
        DryRun::No
    } else {
        DryRun::Yes
    }
}

/// Parses an integer parameter, with the error of Go's `strconv.ParseInt`.
pub(crate) fn parse_integer(text: &str) -> Result<i64, Status> {
    text.parse().map_err(|_| {
        Status::bad_request(format!(
            "strconv.ParseInt: parsing {text:?}: invalid syntax"
        ))
    })
}

fn check_manager(name: &str, causes: &mut Vec<Cause>) {
    if name.len() > MAX_MANAGER_BYTES {
        let detail = format!("may not be more than {MAX_MANAGER_BYTES} bytes");
        causes.push(Cause::new(
            CauseKind::FieldValueTooLong,
            "fieldManager",
            None,
            &detail,
        ));
    }
    for (position, character) in name
        .char_indices()
        .filter(|(_, character)| character.is_control())
    {
        let value = Value::String(name.to_owned());
        let code = u32::from(character);
        let detail = format!("invalid character U+{code:04X} (at position {position})");
        causes.push(Cause::invalid("fieldManager", &value, &detail));
    }
}

#[cfg(test)]
mod tests {
    use kubewright_wire::route::Query;

    use super::{DryRun, FieldValidation, WriteOptions};

    fn parse(text: &str) -> Result<WriteOptions, String> {
        WriteOptions::parse(&Query::parse(text), "CreateOptions").map_err(|status| status.message)
    }

    #[test]
    fn unknown_values_are_invalid() {
        assert_eq!(
            parse("dryRun=X").unwrap_err(),
            "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"X\"]: \
             supported values: \"All\""
        );
        assert!(parse("fieldValidation=Maybe").is_err());
        assert!(parse(&format!("fieldManager={}", "m".repeat(129))).is_err());
        let options = parse("dryRun=All&fieldValidation=Strict").unwrap();
        assert_eq!(options.dry_run, DryRun::Yes);
        assert_eq!(options.field_validation, FieldValidation::Strict);
    }

    #[test]
    fn field_manager_is_the_program_of_the_user_agent() {
        let options = parse("").unwrap();
        assert_eq!(options.manager("kubectl/v1.36.3 (linux/amd64)"), "kubectl");
        assert_eq!(options.manager(""), "unknown");
        assert_eq!(parse("fieldManager=me").unwrap().manager("kubectl"), "me");
    }
}
