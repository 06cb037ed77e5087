//! Files of a volume that overlap.

use std::fmt;

use crate::field_path::FieldPath;
use crate::warning_list::Warnings;

const PROJECTED: [&str; 4] = ["configMap", "secret", "downwardAPI", "serviceAccountToken"];

/// Warns about files of one volume that overlap (`warningsForOverlappingVirtualPaths`).
pub(super) fn overlapping_paths(volumes: FieldPath<'_>, warnings: &mut Warnings) {
    for volume in volumes.items() {
        let name = volume.text_of("name");
        let (map, secret) = (volume.field("configMap"), volume.field("secret"));
        let mut warn = |described: &str, source: FieldPath<'_>| {
            for overlap in overlaps(files(source, ""), &mut Vec::new()) {
                warnings.add(&format!(
                    "volume {name:?} ({described}): overlapping paths: {overlap}"
                ));
            }
        };
        warn(&format!("ConfigMap {:?}", map.text_of("name")), map);
        warn(
            &format!("Secret {:?}", secret.text_of("secretName")),
            secret,
        );
        warn("DownwardAPI", volume.field("downwardAPI"));
        projected(name, volume.field("projected"), warnings);
    }
}

fn projected(volume: &str, at: FieldPath<'_>, warnings: &mut Warnings) {
    let mut known = Vec::new();
    for source in at.field("sources").items() {
        // The other sources are dropped: their feature gates are off.
        if !PROJECTED.iter().any(|kind| source.has(kind)) {
            warnings.add(&format!(
                "volume {volume:?} (Projected) has no sources provided"
            ));
            continue;
        }
        for overlap in overlaps(projected_files(source), &mut known) {
            warnings.add(&format!(
                "volume {volume:?} (Projected): overlapping paths: {overlap}"
            ));
        }
    }
}

fn projected_files(source: FieldPath<'_>) -> Vec<VirtualPath> {
    let token = source.field("serviceAccountToken");
    if token.is_set() {
        return vec![VirtualPath::new(
            token.text_of("path"),
            "ServiceAccountToken",
        )];
    }
    let (map, secret) = (source.field("configMap"), source.field("secret"));
    let of_map = files(map, &format!("ConfigMap {:?}", map.text_of("name")));
    let of_secret = files(secret, &format!("Secret {:?}", secret.text_of("name")));
    let of_pod = files(source.field("downwardAPI"), "DownwardAPI");
    of_map.into_iter().chain(of_secret).chain(of_pod).collect()
}

fn files(source: FieldPath<'_>, described: &str) -> Vec<VirtualPath> {
    let items = source.field("items");
    let paths = items.items().map(|item| item.text_of("path"));
    paths
        .map(|path| VirtualPath::new(path, described))
        .collect()
}

/// Adds new paths to the known ones, and returns their overlaps.
fn overlaps(new: Vec<VirtualPath>, known: &mut Vec<VirtualPath>) -> Vec<String> {
    let mut found = Vec::new();
    for path in new {
        let others = known.iter().filter(|other| other.overlaps(&path));
        found.extend(others.map(|other| format!("{path} with {other}")));
        known.push(path);
    }
    found
}

/// A path in a volume and the source of its content.
#[derive(Clone, Debug)]
struct VirtualPath {
    path: String,
    source: String,
}

impl VirtualPath {
    fn new(path: &str, source: &str) -> Self {
        Self {
            path: path.trim_end_matches('/').to_owned(),
            source: source.to_owned(),
        }
    }

    /// Whether both are equal, or one is a directory of the other.
    fn overlaps(&self, other: &Self) -> bool {
        let is_at_or_under = |path: &str, directory: &str| {
            let rest = path.strip_prefix(directory);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let (left, right) = (self.path.as_str(), other.path.as_str());
        let are_set = !left.is_empty() && !right.is_empty();
        are_set && (is_at_or_under(left, right) || is_at_or_under(right, left))
    }
}

impl fmt::Display for VirtualPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.path)?;
        match self.source.as_str() {
            "" => Ok(()),
            source => write!(f, " ({source})"),
        }
    }
}
