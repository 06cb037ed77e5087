use bytes::Bytes;
use kubewright_core::{GroupVersion, Kind};
use kubewright_wire::schema::{self, Schema};
use kubewright_wire::status::Status;
use kubewright_wire::yaml;
use serde_json::Value;

use super::execute::Content;
use super::options::FieldValidation;
use super::target::Target;
use crate::crd;

/// How much of an unreadable body its message shows.
const SUMMARY: usize = 30;

/// An object as it was sent, with what the client should be told about it.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) value: Value,
    pub(super) warnings: Vec<String>,
}

/// The object in a body: of the right kind, with nothing its kind does not have, with the
/// defaults of its kind.
pub(super) fn object(
    target: &Target,
    content: &Content,
    kind: &Kind,
    validation: FieldValidation,
) -> Result<Decoded, Status> {
    let mut value = match content {
        Content::Value(value) => value.clone(),
        _ => {
            let value = parse(content).map_err(|error| unrecognized(kind, &error, content))?;
            if !value.is_object() {
                let error = "couldn't get version/kind; json parse error: json: cannot unmarshal \
                             into Go value of type struct { APIVersion string \
                             \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                             \"json:\\\"kind,omitempty\\\"\" }";
                return Err(unrecognized(kind, error, content));
            }
            value
        }
    };
    check_kind(&mut value, kind)?;
    let warnings = conform(target, &mut value, kind, validation)?;
    Ok(Decoded { value, warnings })
}

/// Any value in a body, for patches and options.
pub(super) fn parse(content: &Content) -> Result<Value, String> {
    match content {
        Content::Empty => Err("EOF".to_owned()),
        Content::Value(value) => Ok(value.clone()),
        Content::Json(bytes) => serde_json::from_slice(bytes).map_err(|error| error.to_string()),
        Content::Yaml(bytes) => {
            let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
            yaml::from_str(text).map_err(|error| error.to_string())
        }
    }
}

/// Fills in an absent `kind` and `apiVersion`, refuses others than the URL's.
fn check_kind(value: &mut Value, kind: &Kind) -> Result<(), Status> {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    let (sent_kind, sent_version) = (text("kind").to_owned(), text("apiVersion").to_owned());
    let expected = kind.api_version();
    let other_kind = !sent_kind.is_empty() && sent_kind != kind.kind;
    if other_kind {
        let version = match sent_version.is_empty() {
            true => kind.version().to_owned(),
            false => GroupVersion::from_api_version(&sent_version).version,
        };
        return Err(Status::bad_request(format!(
            "{sent_kind} in version {version:?} cannot be handled as a {}: {sent_kind} is another \
             kind",
            kind.kind
        )));
    }
    if !sent_version.is_empty() && sent_version != expected {
        return Err(Status::bad_request(format!(
            "the API version in the data ({sent_version}) does not match the expected API version \
             ({expected})"
        )));
    }
    value["kind"] = Value::String(kind.kind.clone());
    value["apiVersion"] = Value::String(expected);
    Ok(())
}

/// Makes a value conform to its kind: unknown fields go, defaults come.
pub(super) fn conform(
    target: &Target,
    value: &mut Value,
    kind: &Kind,
    validation: FieldValidation,
) -> Result<Vec<String>, Status> {
    let unknown = match target.served.custom() {
        Some(custom) if kind == target.kind() => custom.schema().conform(value),
        Some(_) => Vec::new(),
        None => builtin(value, kind)?,
    };
    let unknown = unknown
        .into_iter()
        .map(|path| format!("unknown field {path:?}"));
    let problems: Vec<String> = unknown.collect();
    match validation {
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Warn => Ok(problems),
        FieldValidation::Strict if problems.is_empty() => Ok(problems),
        FieldValidation::Strict => Err(strict(kind, &problems)),
    }
}

/// Reads an object of a built-in kind as the API server does: what the kind does not have goes,
/// amounts and times take their canonical form.
fn builtin(value: &mut Value, kind: &Kind) -> Result<Vec<String>, Status> {
    let Some(schema) = Schema::builtin().kind(kind) else {
        return Ok(Vec::new());
    };
    let unknown = schema::conform(value, schema).map_err(|error| {
        Status::bad_request(format!(
            "{} in version {:?} cannot be handled as a {}: {error}",
            kind.kind,
            kind.version(),
            kind.kind
        ))
    })?;
    if kind.kind == "CustomResourceDefinition" {
        crd::fill_in(value);
    }
    Ok(unknown)
}

fn strict(kind: &Kind, problems: &[String]) -> Status {
    Status::bad_request(format!(
        "{} in version {:?} cannot be handled as a {}: strict decoding error: {}",
        kind.kind,
        kind.version(),
        kind.kind,
        problems.join(", ")
    ))
}

fn unrecognized(kind: &Kind, error: &str, content: &Content) -> Status {
    Status::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {error} ({})",
        kind.kind,
        summary(content)
    ))
}

/// The first bytes of a body, as `summarizeData` of k8s.io/apiserver shows them.
fn summary(content: &Content) -> String {
    let bytes: &Bytes = match content {
        Content::Json(bytes) | Content::Yaml(bytes) => bytes,
        Content::Empty | Content::Value(_) => return "empty".to_owned(),
    };
    let shown = bytes.get(..SUMMARY).unwrap_or(bytes);
    let dots = if bytes.len() > SUMMARY { " ..." } else { "" };
    match shown.first() {
        None => "empty".to_owned(),
        Some(b'{') => format!("{}{dots}", String::from_utf8_lossy(shown)),
        Some(_) => {
            let hex: String = shown.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{hex}{dots}")
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use kubewright_core::Kind;
    use serde_json::json;

    use super::{check_kind, parse, unrecognized};
    use crate::request::Content;

    #[test]
    fn an_absent_kind_is_that_of_the_url() {
        let mut value = json!({"data": {}});
        check_kind(&mut value, &Kind::new("apps", "v1", "Deployment")).unwrap();
        assert_eq!(value["apiVersion"], "apps/v1");
        assert_eq!(value["kind"], "Deployment");
    }

    #[test]
    fn another_version_or_kind_is_refused() {
        let kind = Kind::new("", "v1", "ConfigMap");
        let mut other = json!({"apiVersion": "v2", "kind": "ConfigMap"});
        assert_eq!(
            check_kind(&mut other, &kind).unwrap_err().message,
            "the API version in the data (v2) does not match the expected API version (v1)"
        );
        let mut other = json!({"apiVersion": "v1", "kind": "Secret"});
        let message = check_kind(&mut other, &kind).unwrap_err().message;
        assert!(
            message.starts_with("Secret in version \"v1\" cannot be handled as a ConfigMap: "),
            "{message}"
        );
    }

    #[test]
    fn what_cannot_be_read_is_shown_in_part() {
        let kind = Kind::new("", "v1", "ConfigMap");
        let bad = Content::Json(Bytes::from_static(b"\xff\xfe"));
        let error = parse(&bad).unwrap_err();
        let message = unrecognized(&kind, &error, &bad).message;
        assert!(message.ends_with("(fffe)"), "{message}");
        let deep = Content::Json(Bytes::from("[".repeat(100_000)));
        assert!(parse(&deep).is_err());
    }
}
