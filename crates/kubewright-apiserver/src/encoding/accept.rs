//! The `Accept` header.

use http::HeaderMap;
use http::header::ACCEPT;
use kubewright_wire::status::Status;

/// The encoding of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Yaml,
}

/// The media types of Kubernetes. Those of watches are last.
const AVAILABLE: [&str; 5] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
];
const AVAILABLE_FOR_OBJECTS: usize = 3;

/// Whether a request is for an object, or for a collection, which has media types for watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Object,
    Collection,
}

/// The first accepted encoding of a plain value. Ranges for other representations are ignored.
pub(crate) fn accepted(headers: &HeaderMap) -> Result<Format, Status> {
    let ranges = ranges(headers);
    if ranges.is_empty() {
        return Ok(Format::Json);
    }
    ranges
        .iter()
        .filter(|range| range.transform.is_none())
        .find_map(MediaRange::format)
        .ok_or_else(|| not_acceptable(&ranges, Subject::Object))
}

/// A media range of the header.
#[derive(Debug)]
pub(crate) struct MediaRange<'h> {
    media_type: &'h str,
    /// The parameters `as`, `g` and `v`, if there is any of them.
    transform: Option<(&'h str, &'h str, &'h str)>,
    quality: f32,
}

/// The representations besides the object itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Transform {
    None,
    Table,
    Metadata,
    MetadataList,
}

/// The media ranges of a request, the preferred one first.
pub(crate) fn ranges(headers: &HeaderMap) -> Vec<MediaRange<'_>> {
    let values = headers.get_all(ACCEPT).iter();
    let mut ranges: Vec<MediaRange<'_>> = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','))
        .map(str::trim)
        .filter(|range| !range.is_empty())
        .map(MediaRange::parse)
        .collect();
    ranges.sort_by(|left, right| right.quality.total_cmp(&left.quality));
    ranges
}

impl<'h> MediaRange<'h> {
    fn parse(text: &'h str) -> Self {
        let (media_type, parameters) = text.split_once(';').unwrap_or((text, ""));
        let parameters: Vec<(&str, &str)> = parameters
            .split(';')
            .filter_map(|parameter| parameter.trim().split_once('='))
            .collect();
        let find = |name: &str| {
            let mut named = parameters.iter().filter(|(known, _)| *known == name);
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

    pub(crate) fn format(&self) -> Option<Format> {
        match self.media_type {
            "application/json" | "*/*" | "application/*" => Some(Format::Json),
            "application/yaml" => Some(Format::Yaml),
            _ => None,
        }
    }

    pub(crate) fn transform(&self) -> Option<Transform> {
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

/// The error for a request that accepts nothing that the server can send.
pub(crate) fn not_acceptable(ranges: &[MediaRange<'_>], subject: Subject) -> Status {
    let (of_objects, _) = AVAILABLE.split_at(AVAILABLE_FOR_OBJECTS);
    let is_transformed = ranges.iter().any(|range| range.transform.is_some());
    match subject {
        _ if is_transformed => Status::only_accepts(of_objects),
        Subject::Object => Status::not_acceptable(of_objects),
        Subject::Collection => Status::not_acceptable(&AVAILABLE),
    }
}
