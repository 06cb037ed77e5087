//! Content negotiation: the encoding and representation of responses, and the types of bodies.

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use kubewright_wire::route::Query;
use kubewright_wire::status::Status;

use crate::encoding::{Format, Subject, Transform, not_acceptable, ranges};
use crate::request::PatchKind;
use crate::table::{Form, Included};

/// The encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyType {
    Json,
    Yaml,
    /// The encoding of Kubernetes, which Go clients send.
    Protobuf,
}

/// The first accepted encoding and representation of objects. Protobuf is not supported: a request
/// that accepts only that fails.
pub(super) fn negotiated(
    headers: &HeaderMap,
    query: &Query,
    subject: Subject,
) -> Result<(Format, Form), Status> {
    let ranges = ranges(headers);
    if ranges.is_empty() {
        return Ok((Format::Json, Form::Whole));
    }
    let (format, transform) = ranges
        .iter()
        .find_map(|range| Some((range.format()?, range.transform()?)))
        .ok_or_else(|| not_acceptable(&ranges, subject))?;
    let form = match transform {
        Transform::None => Form::Whole,
        Transform::Metadata => Form::Metadata,
        Transform::MetadataList => Form::MetadataList,
        Transform::Table => Form::Table(included(query)?),
    };
    Ok((format, form))
}

/// What the rows of a table include of their objects.
fn included(query: &Query) -> Result<Included, Status> {
    match query.get("includeObject").unwrap_or_default() {
        "" | "Metadata" => Ok(Included::Metadata),
        "Object" => Ok(Included::Object),
        "None" => Ok(Included::Nothing),
        other => Err(Status::bad_request(format!(
            "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: \
             must be 'Metadata', 'Object', 'None', or empty"
        ))),
    }
}

/// The encoding of the body of a create, update or delete.
pub(super) fn body_type(headers: &HeaderMap) -> Result<BodyType, Status> {
    match media_type(headers) {
        "" | "application/json" => Ok(BodyType::Json),
        "application/yaml" => Ok(BodyType::Yaml),
        "application/vnd.kubernetes.protobuf" => Ok(BodyType::Protobuf),
        _ => Err(Status::unsupported_media_type()),
    }
}

/// The kind of patch in a body.
pub(super) fn patch_kind(headers: &HeaderMap) -> Result<(PatchKind, BodyType), Status> {
    match media_type(headers) {
        "application/json-patch+json" => Ok((PatchKind::Json, BodyType::Json)),
        "application/merge-patch+json" => Ok((PatchKind::Merge, BodyType::Json)),
        "application/strategic-merge-patch+json" => Ok((PatchKind::StrategicMerge, BodyType::Json)),
        "application/apply-patch+yaml" => Ok((PatchKind::Apply, BodyType::Yaml)),
        _ => Err(Status::unsupported_patch_type()),
    }
}

fn media_type(headers: &HeaderMap) -> &str {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    content_type.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT;
    use http::{HeaderMap, HeaderValue};
    use kubewright_wire::route::Query;

    use super::{Form, Format, Included, Subject, negotiated};
    use crate::encoding::accepted;

    fn accept(value: &'static str) -> Result<(Format, Form), u16> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(value));
        negotiated(&headers, &Query::default(), Subject::Object).map_err(|status| status.code)
    }

    #[test]
    fn first_supported_media_range_is_chosen() {
        assert_eq!(accepted(&HeaderMap::new()), Ok(Format::Json));
        let table = Form::Table(Included::Metadata);
        for (value, wanted) in [
            (
                "application/vnd.kubernetes.protobuf, */*",
                Ok((Format::Json, Form::Whole)),
            ),
            ("application/yaml", Ok((Format::Yaml, Form::Whole))),
            (
                "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
                Ok((Format::Json, table)),
            ),
            (
                "application/json;q=0.5, application/yaml;as=Table;v=v1;g=meta.k8s.io",
                Ok((Format::Yaml, table)),
            ),
            (
                "application/json;as=Chart;v=v1;g=meta.k8s.io,application/json",
                Ok((Format::Json, Form::Whole)),
            ),
            (
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
                Ok((Format::Json, Form::Metadata)),
            ),
            ("application/vnd.kubernetes.protobuf", Err(406)),
            ("application/json;as=Chart;v=v1;g=meta.k8s.io", Err(406)),
        ] {
            assert_eq!(accept(value), wanted, "{value}");
        }
    }

    #[test]
    fn paths_outside_the_resources_have_no_other_representation() {
        let mut headers = HeaderMap::new();
        let value = "application/json;as=Table;v=v1;g=meta.k8s.io, application/yaml";
        headers.insert(ACCEPT, HeaderValue::from_static(value));
        assert_eq!(accepted(&headers), Ok(Format::Yaml));
    }
}
