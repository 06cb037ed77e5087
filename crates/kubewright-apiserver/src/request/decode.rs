use bytes::Bytes;
use kubewright_core::{GroupVersion, Kind};
use kubewright_wire::protobuf::{Layouts, ProtobufError, from_protobuf};
use kubewright_wire::schema::{self, DecodeError, Schema};
use kubewright_wire::status::{Cause, Status};
use kubewright_wire::yaml;
use serde_json::{Map, Value, json};

use super::execute::Content;
use super::json::{self, Json, go_type};
use super::options::FieldValidation;
use super::target::Target;
use crate::{crd, kinds};

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
    let Json {
        mut value,
        duplicates,
    } = members(content).map_err(|error| error.about(kind, content))?;
    match target.served.custom() {
        Some(_) => check_custom_kind(&value, kind, content)?,
        None => check_kind(&mut value, kind)?,
    }
    let unknown = conform(target, &mut value, kind)?;
    let warnings = report(kind, validation, unknown, duplicates)?;
    Ok(Decoded { value, warnings })
}

/// The same for a part of an object that has a built-in kind of its own, such as `Scale`.
pub(super) fn part(
    content: &Content,
    kind: &Kind,
    validation: FieldValidation,
) -> Result<Decoded, Status> {
    let Json {
        mut value,
        duplicates,
    } = members(content).map_err(|error| error.about(kind, content))?;
    check_kind(&mut value, kind)?;
    let unknown = builtin(&mut value, kind)
        .map_err(|error| Status::bad_request(format!("{}: {error}", cannot_handle(kind))))?;
    let warnings = report(kind, validation, unknown, duplicates)?;
    Ok(Decoded { value, warnings })
}

/// Why a body cannot be read.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// It is of a kind that is not sent so.
    MediaType,
    /// It is not what its media type says.
    Malformed(String),
}

impl Unreadable {
    /// The response to a body that should have been of a kind.
    fn about(self, kind: &Kind, content: &Content) -> Status {
        match self {
            Self::MediaType => Status::unsupported_media_type(),
            Self::Malformed(error) => unrecognized(kind, &error, content),
        }
    }

    /// The response to a body that should have been options.
    pub(super) fn of_options(self) -> Status {
        match self {
            Self::MediaType => Status::unsupported_media_type(),
            Self::Malformed(error) => Status::bad_request(error),
        }
    }
}

/// The members of a body; `null` has none.
pub(super) fn members(content: &Content) -> Result<Json, Unreadable> {
    if let Content::Protobuf(bytes) = content {
        return match from_protobuf(bytes, Layouts::builtin()) {
            Ok(value) => Ok(plain(value)),
            Err(ProtobufError::Kind(_)) => Err(Unreadable::MediaType),
            Err(_) if bytes.is_empty() => Err(Unreadable::Malformed("empty data".to_owned())),
            Err(error) => Err(Unreadable::Malformed(error.to_string())),
        };
    }
    text_members(content).map_err(Unreadable::Malformed)
}

fn text_members(content: &Content) -> Result<Json, String> {
    let json = read(content)
        .map_err(|error| format!("couldn't get version/kind; json parse error: {error}"))?;
    match json.value {
        Value::Object(_) => Ok(json),
        Value::Null => Ok(Json {
            value: Value::Object(Map::new()),
            ..json
        }),
        other => Err(format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value \
             of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
             \"json:\\\"kind,omitempty\\\"\" }}",
            go_type(&other)
        )),
    }
}

/// Any value in a body, for patches and options.
pub(super) fn parse(content: &Content) -> Result<Value, String> {
    read(content).map(|json| json.value)
}

fn plain(value: Value) -> Json {
    Json {
        value,
        duplicates: Vec::new(),
    }
}

fn read(content: &Content) -> Result<Json, String> {
    match content {
        Content::Empty => Err("unexpected end of JSON input".to_owned()),
        Content::Value(value) => Ok(plain(value.clone())),
        Content::Json(bytes) => json::read(bytes),
        // Most clients write JSON, which is YAML too and quicker to read.
        Content::Yaml(bytes) => json::read(bytes).or_else(|_| {
            let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
            let value = yaml::from_str(text).map_err(|error| error.to_string())?;
            Ok(plain(value))
        }),
        Content::Protobuf(bytes) => from_protobuf(bytes, Layouts::builtin())
            .map(plain)
            .map_err(|error| error.to_string()),
    }
}

/// The same for the result of a patch, which may lack its kind but not change it.
pub(super) fn check_patched_kind(target: &Target, value: &mut Value) -> Result<(), Status> {
    let kind = target.kind();
    if target.served.custom().is_none() {
        let result = value.to_string();
        return check_kind(value, kind).map_err(|status| {
            // Here Kubernetes tells only what is wrong, not of what.
            let prefix = format!("cannot be handled as a {}: ", kind.kind);
            let why = status.message.split_once(&prefix);
            let why = why.map_or(status.message.as_str(), |(_, why)| why);
            invalid_patch(result, why)
        });
    }
    let own = [
        ("kind", kind.kind.clone()),
        ("apiVersion", kind.api_version()),
    ];
    for (field, text) in own {
        if value[field].as_str().unwrap_or_default().is_empty() {
            value[field] = Value::String(text);
        }
    }
    check_custom_kind(value, kind, &Content::Empty)
}

/// A patch whose result cannot be read is told with the result.
pub(super) fn invalid_patch(result: String, why: &str) -> Status {
    let cause = Cause::invalid("patch", &Value::String(result), why);
    Status::invalid_as("", "", "", vec![cause])
}

/// Fills in an absent `kind` and `apiVersion`, refuses others than the URL's.
fn check_kind(value: &mut Value, kind: &Kind) -> Result<(), Status> {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    let or = |sent: &str, expected: &str| match sent.is_empty() {
        true => expected.to_owned(),
        false => sent.to_owned(),
    };
    let sent = Kind {
        group_version: GroupVersion::from_api_version(&or(text("apiVersion"), &kind.api_version())),
        kind: or(text("kind"), &kind.kind),
    };
    if sent != *kind {
        return Err(other_kind(&sent, kind));
    }
    value["kind"] = Value::String(kind.kind.clone());
    value["apiVersion"] = Value::String(kind.api_version());
    Ok(())
}

/// An object of a custom resource says its kind itself.
fn check_custom_kind(value: &Value, kind: &Kind, content: &Content) -> Result<(), Status> {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    for (field, name) in [("kind", "Kind"), ("apiVersion", "apiVersion")] {
        if text(field).is_empty() {
            let body = match content {
                Content::Json(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                _ => value.to_string(),
            };
            let error = format!("Object '{name}' is missing in '{body}'");
            return Err(unrecognized(kind, &error, content));
        }
    }
    let (sent_kind, sent_version) = (text("kind"), text("apiVersion"));
    if sent_version != kind.api_version() {
        return Err(Status::bad_request(format!(
            "the API version in the data ({sent_version}) does not match the expected API version \
             ({})",
            kind.api_version()
        )));
    }
    if sent_kind != kind.kind {
        let detail = format!("must be {}", kind.kind);
        let cause = Cause::invalid("kind", &json!(sent_kind), &detail);
        let name = value["metadata"]["name"].as_str().unwrap_or_default();
        let causes = vec![cause];
        return Err(Status::invalid_as(kind.group(), sent_kind, name, causes));
    }
    Ok(())
}

/// What the API server says of an object of another kind or version than the URL's.
fn other_kind(sent: &Kind, kind: &Kind) -> Status {
    let is_known = Schema::builtin().kind(sent).is_some();
    if is_known && sent.kind == kind.kind && sent.group() == kind.group() {
        return Status::bad_request(format!(
            "the API version in the data ({}) does not match the expected API version ({})",
            sent.api_version(),
            kind.api_version()
        ));
    }
    let why = match is_known {
        // Go names the packages of the two types.
        true => format!(
            "converting ({}.{}) to ({}.{}): unknown conversion",
            sent.version(),
            sent.kind,
            match kind.group().split('.').next() {
                Some("") | None => "core",
                Some(package) => package,
            },
            kind.kind
        ),
        false => format!(
            "no kind {:?} is registered for version {:?} in scheme \"pkg/runtime/scheme.go:111\"",
            sent.kind,
            sent.api_version()
        ),
    };
    Status::bad_request(format!(
        "{} in version {:?} cannot be handled as a {}: {why}",
        sent.kind,
        sent.version(),
        kind.kind
    ))
}

/// Makes a value conform to its kind: unknown fields go, defaults come. Returns the paths of what
/// went.
pub(super) fn conform(
    target: &Target,
    value: &mut Value,
    kind: &Kind,
) -> Result<Vec<String>, Status> {
    match target.served.custom() {
        Some(custom) if kind == target.kind() => {
            let mut unknown = custom_metadata(value).map_err(|error| {
                Status::bad_request(format!("{}: {error}", cannot_handle(kind)))
            })?;
            unknown.extend(custom.schema().conform(value));
            Ok(unknown)
        }
        Some(_) => Ok(Vec::new()),
        None => builtin(value, kind)
            .map_err(|error| Status::bad_request(format!("{}: {error}", cannot_handle(kind)))),
    }
}

/// The same for what an apply has made of an object: each of its fields is known, and a custom
/// resource keeps its nulls, which nobody has decoded.
pub(super) fn conform_applied(target: &Target, value: &mut Value) -> Result<(), Status> {
    match target.served.custom() {
        Some(custom) => {
            custom_metadata(value).map_err(|error| {
                Status::bad_request(format!("{}: {error}", cannot_handle(target.kind())))
            })?;
            custom.schema().fill_defaults(value);
            Ok(())
        }
        None => conform(target, value, target.kind()).map(drop),
    }
}

/// The same for what a webhook has made of an object.
pub(super) fn conform_patched(
    target: &Target,
    value: &mut Value,
    kind: &Kind,
) -> Result<(), Status> {
    if target.served.custom().is_some() {
        return conform(target, value, kind).map(drop);
    }
    let conformed = builtin(value, kind).map(drop);
    conformed.map_err(|error| Status::bad_request(error.to_string()))
}

/// The same for an object that may not have what its kind does not have.
pub(super) fn conform_all(target: &Target, value: &mut Value, kind: &Kind) -> Result<(), Status> {
    if target.served.custom().is_some() {
        return conform(target, value, kind).map(drop);
    }
    let unknown = builtin(value, kind).map_err(|error| Status::bad_request(error.to_string()))?;
    let unknown = unknown.iter().map(|path| format!("unknown field {path:?}"));
    let problems: Vec<String> = unknown.collect();
    match problems.is_empty() {
        true => Ok(()),
        false => Err(Status::bad_request(format!(
            "strict decoding error: {}",
            problems.join(", ")
        ))),
    }
}

/// The metadata of a custom resource has the types of all metadata
/// (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta).
fn custom_metadata(value: &mut Value) -> Result<Vec<String>, DecodeError> {
    let any = Schema::builtin().kind(&Kind::new("", "v1", "ConfigMap"));
    let schema = any.and_then(|any| any.field("metadata"));
    let metadata = value
        .get_mut("metadata")
        .filter(|metadata| !metadata.is_null());
    let (Some(schema), Some(metadata)) = (schema, metadata) else {
        return Ok(Vec::new());
    };
    let unknown = schema::conform(metadata, schema)?;
    let unknown = unknown.iter().map(|path| format!("metadata.{path}"));
    Ok(unknown.collect())
}

/// What becomes of fields that do not belong: nothing, warnings, or a refusal.
pub(super) fn report(
    kind: &Kind,
    validation: FieldValidation,
    unknown: Vec<String>,
    duplicates: Vec<String>,
) -> Result<Vec<String>, Status> {
    let (mut paths, others): (Vec<_>, Vec<_>) = unknown
        .into_iter()
        .partition(|path| path.starts_with("metadata."));
    paths.extend(others);
    let unknown = paths.iter().map(|path| format!("unknown field {path:?}"));
    let twice = duplicates
        .iter()
        .map(|path| format!("duplicate field {path:?}"));
    let problems: Vec<String> = unknown.chain(twice).collect();
    match validation {
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Strict if !problems.is_empty() => Err(Status::bad_request(format!(
            "{}: strict decoding error: {}",
            cannot_handle(kind),
            problems.join(", ")
        ))),
        FieldValidation::Warn | FieldValidation::Strict => Ok(problems),
    }
}

fn cannot_handle(kind: &Kind) -> String {
    format!(
        "{} in version {:?} cannot be handled as a {}",
        kind.kind,
        kind.version(),
        kind.kind
    )
}

/// Reads an object of a built-in kind as the API server does: what the kind does not have goes,
/// amounts and times take their canonical form.
pub(super) fn builtin(value: &mut Value, kind: &Kind) -> Result<Vec<String>, DecodeError> {
    let Some(schema) = Schema::builtin().kind(kind) else {
        return Ok(Vec::new());
    };
    let unknown = schema::conform(value, schema)?;
    match (kind.group(), kind.kind.as_str()) {
        ("apiextensions.k8s.io", "CustomResourceDefinition") => crd::fill_in(value),
        ("", "Secret") => kinds::take_string_data(value),
        _ => {}
    }
    kinds::fill_in(kind, value);
    Ok(unknown)
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
        Content::Json(bytes) | Content::Yaml(bytes) | Content::Protobuf(bytes) => bytes,
        Content::Empty | Content::Value(_) => return "<empty>".to_owned(),
    };
    let shown = bytes.get(..SUMMARY).unwrap_or(bytes);
    let dots = if bytes.len() > SUMMARY { " ..." } else { "" };
    match shown.first() {
        None => "<empty>".to_owned(),
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
            "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" \
             is registered for version \"v2\" in scheme \"pkg/runtime/scheme.go:111\""
        );
        let mut other = json!({"apiVersion": "v1", "kind": "Secret"});
        assert_eq!(
            check_kind(&mut other, &kind).unwrap_err().message,
            "Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to \
             (core.ConfigMap): unknown conversion"
        );
    }

    #[test]
    fn json_where_yaml_may_stand_is_read_as_yaml_would_be() {
        let read = |text: &'static str| parse(&Content::Yaml(Bytes::from_static(text.as_bytes())));
        assert_eq!(read(r#"{"a": [1, "b"]}"#), read("a: [1, b]"));
        assert_eq!(read(r#"{"a": 1}"#), Ok(json!({"a": 1})));
        assert_eq!(read(r#"{"a": 1, "a": 2}"#), Ok(json!({"a": 2})));
        assert!(read("{a: ").is_err());
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
