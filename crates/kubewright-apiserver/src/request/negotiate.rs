use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE};
use kubewright_wire::route::Query;
use kubewright_wire::status::Status;

use super::execute::PatchKind;
use crate::table::{Form, Included};

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
    /// Kubernetes' own, which Go clients send.
    Protobuf,
}

/// What Kubernetes writes, the types of collections last.
const AVAILABLE: [&str; 5] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
];
const OF_OBJECTS: usize = 3;

/// What a request is about: collections can be watched, which is a type of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Object,
    Collection,
}

/// The first type among those accepted that this server writes; other forms than the object
/// itself are passed over.
pub(crate) fn accepted(headers: &HeaderMap) -> Result<Format, Status> {
    let ranges = ranges(headers);
    if ranges.is_empty() {
        return Ok(Format::Json);
    }
    let plain = ranges.iter().filter(|range| range.transform.is_none());
    let found = plain.filter_map(|range| range.format()).next();
    found.ok_or_else(|| refuse(&ranges, Asked::Object))
}

/// The first type and form among those accepted that objects are written in. Protobuf is passed
/// over: whoever accepts only that is told so.
pub(super) fn negotiated(
    headers: &HeaderMap,
    query: &Query,
    asked: Asked,
) -> Result<(Format, Form), Status> {
    let ranges = ranges(headers);
    if ranges.is_empty() {
        return Ok((Format::Json, Form::Whole));
    }
    let mut offers = ranges
        .iter()
        .filter_map(|range| Some((range.format()?, range.transform())))
        .filter_map(|(format, transform)| Some((format, transform?)));
    let (format, transform) = offers.next().ok_or_else(|| refuse(&ranges, asked))?;
    let form = match transform {
        Transform::None => Form::Whole,
        Transform::Metadata => Form::Metadata,
        Transform::MetadataList => Form::MetadataList,
        Transform::Table => Form::Table(included(query)?),
    };
    Ok((format, form))
}

/// One of the types that a client accepts.
#[derive(Debug)]
struct Range<'h> {
    media_type: &'h str,
    /// The kind, group and version behind `as`, `g` and `v`, where there is one of them.
    transform: Option<(&'h str, &'h str, &'h str)>,
    quality: f32,
}

/// The forms that there are besides the object itself.
#[derive(Clone, Copy, Debug)]
enum Transform {
    None,
    Table,
    Metadata,
    MetadataList,
}

/// The accepted types, the best first.
fn ranges(headers: &HeaderMap) -> Vec<Range<'_>> {
    let values = headers.get_all(ACCEPT).iter();
    let mut ranges: Vec<Range<'_>> = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','))
        .map(str::trim)
        .filter(|range| !range.is_empty())
        .map(Range::parse)
        .collect();
    ranges.sort_by(|one, other| other.quality.total_cmp(&one.quality));
    ranges
}

impl<'h> Range<'h> {
    fn parse(text: &'h str) -> Self {
        let (media_type, parameters) = text.split_once(';').unwrap_or((text, ""));
        let parameters: Vec<(&str, &str)> = parameters
            .split(';')
            .filter_map(|parameter| parameter.trim().split_once('='))
            .collect();
        let find = |name: &str| {
            let mut named = parameters.iter().filter(|(one, _)| *one == name);
            named.next().map(|(_, value)| value.trim())
        };
        let (kind, group, version) = (find("as"), find("g"), find("v"));
        let is_transform = kind.or(group).or(version).is_some();
        Self {
            media_type: media_type.trim(),
            transform: is_transform.then(|| {
                let text = |part: Option<&'h str>| part.unwrap_or_default();
                (text(kind), text(group), text(version))
            }),
            quality: find("q").and_then(|q| q.parse().ok()).unwrap_or(1.0),
        }
    }

    fn format(&self) -> Option<Format> {
        match self.media_type {
            "application/json" | "*/*" | "application/*" => Some(Format::Json),
            "application/yaml" => Some(Format::Yaml),
            _ => None,
        }
    }

    fn transform(&self) -> Option<Transform> {
        match self.transform {
            None => Some(Transform::None),
            Some(("Table", "meta.k8s.io", "v1")) => Some(Transform::Table),
            Some(("PartialObjectMetadata", "meta.k8s.io", "v1")) => Some(Transform::Metadata),
            Some(("PartialObjectMetadataList", "meta.k8s.io", "v1")) => {
                Some(Transform::MetadataList)
            }
            Some(_) => None,
        }
    }
}

fn refuse(ranges: &[Range<'_>], asked: Asked) -> Status {
    let (of_objects, _) = AVAILABLE.split_at(OF_OBJECTS);
    let is_transformed = ranges.iter().any(|range| range.transform.is_some());
    match (is_transformed, asked) {
        (true, _) => Status::only_accepts(of_objects),
        (false, Asked::Object) => Status::not_acceptable(of_objects),
        (false, Asked::Collection) => Status::not_acceptable(&AVAILABLE),
    }
}

/// What the rows of a table carry of their objects.
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

/// The form of the body of a create, update or delete.
pub(super) fn body_type(headers: &HeaderMap) -> Result<BodyType, Status> {
    match media_type(headers) {
        "" | "application/json" => Ok(BodyType::Json),
        "application/yaml" => Ok(BodyType::Yaml),
        "application/vnd.kubernetes.protobuf" => Ok(BodyType::Protobuf),
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
    use kubewright_wire::route::Query;

    use super::{Asked, Form, Format, Included, accepted, negotiated};

    fn accept(value: &'static str) -> Result<(Format, Form), u16> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(value));
        negotiated(&headers, &Query::default(), Asked::Object).map_err(|status| status.code)
    }

    #[test]
    fn the_first_form_that_is_written_here_wins() {
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
    fn a_path_that_is_no_resource_has_no_other_form() {
        let mut headers = HeaderMap::new();
        let value = "application/json;as=Table;v=v1;g=meta.k8s.io, application/yaml";
        headers.insert(ACCEPT, HeaderValue::from_static(value));
        assert_eq!(accepted(&headers), Ok(Format::Yaml));
    }
}
