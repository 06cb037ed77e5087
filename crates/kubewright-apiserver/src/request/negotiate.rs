use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE};
use kubewright_wire::status::Status;

use super::execute::PatchKind;

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Yaml,
}

/// The form of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyType {
    Json,
    Yaml,
}

const AVAILABLE: [&str; 3] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
];

/// The first form among those accepted that this server writes. Protobuf, tables and partial
/// objects are passed over: whoever accepts only those is told so.
pub(crate) fn accepted(headers: &HeaderMap) -> Result<Format, Status> {
    let mut ranges = Vec::new();
    for value in headers.get_all(ACCEPT) {
        let text = value.to_str().unwrap_or_default();
        ranges.extend(
            text.split(',')
                .map(str::trim)
                .filter(|range| !range.is_empty()),
        );
    }
    if ranges.is_empty() {
        return Ok(Format::Json);
    }
    let mut transforms = None;
    for range in &ranges {
        let (media_type, parameters) = range.split_once(';').unwrap_or((range, ""));
        let mut parameters = parameters.split(';').map(str::trim);
        if let Some(form) = parameters.find_map(|parameter| parameter.strip_prefix("as=")) {
            transforms = transforms.or(Some(form));
            continue;
        }
        match media_type.trim() {
            "application/json" | "*/*" | "application/*" => return Ok(Format::Json),
            "application/yaml" => return Ok(Format::Yaml),
            _ => {}
        }
    }
    match transforms {
        Some(form @ ("Table" | "PartialObjectMetadata" | "PartialObjectMetadataList")) => {
            let message = format!("answers in the form {form} are not implemented yet");
            Err(Status::not_implemented(message))
        }
        Some(_) => Err(Status::only_accepts(&AVAILABLE)),
        None => Err(Status::not_acceptable(&AVAILABLE)),
    }
}

/// The form of the body of a create, update or delete.
pub(super) fn body_type(headers: &HeaderMap) -> Result<BodyType, Status> {
    match media_type(headers) {
        "" | "application/json" => Ok(BodyType::Json),
        "application/yaml" => Ok(BodyType::Yaml),
        _ => Err(Status::unsupported_media_type()),
    }
}

/// What kind of patch a body is.
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
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let value = value.unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT;
    use http::{HeaderMap, HeaderValue};

    use super::{Format, accepted};

    fn accept(value: &'static str) -> Result<Format, u16> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(value));
        accepted(&headers).map_err(|status| status.code)
    }

    #[test]
    fn the_first_form_that_is_written_here_wins() {
        assert_eq!(accepted(&HeaderMap::new()), Ok(Format::Json));
        assert_eq!(
            accept("application/vnd.kubernetes.protobuf, */*"),
            Ok(Format::Json)
        );
        assert_eq!(accept("application/yaml"), Ok(Format::Yaml));
        assert_eq!(
            accept("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
            Ok(Format::Json)
        );
        assert_eq!(accept("application/vnd.kubernetes.protobuf"), Err(406));
        assert_eq!(
            accept("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"),
            Err(501)
        );
    }
}
