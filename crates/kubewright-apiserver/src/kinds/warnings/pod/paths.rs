use std::fmt;

use super::super::{At, Told};

const PROJECTED: [&str; 4] = ["configMap", "secret", "downwardAPI", "serviceAccountToken"];

/// Files of one volume that hide each other (`warningsForOverlappingVirtualPaths`).
pub(super) fn overlapping_paths(volumes: At<'_>, told: &mut Told) {
    for volume in volumes.items() {
        let name = volume.text_of("name");
        let (map, secret) = (volume.field("configMap"), volume.field("secret"));
        let mut tell = |described: &str, source: At<'_>| {
            let mut taken = Vec::new();
            for overlap in overlaps(files(source, ""), &mut taken) {
                told.say(&format!(
                    "volume {name:?} ({described}): overlapping paths: {overlap}"
                ));
            }
        };
        tell(&format!("ConfigMap {:?}", map.text_of("name")), map);
        tell(
            &format!("Secret {:?}", secret.text_of("secretName")),
            secret,
        );
        tell("DownwardAPI", volume.field("downwardAPI"));
        projected(name, volume.field("projected"), told);
    }
}

fn projected(volume: &str, at: At<'_>, told: &mut Told) {
    let mut taken = Vec::new();
    for source in at.field("sources").items() {
        // Trust bundles and certificates of Pods are dropped unless their gates are opened.
        if !PROJECTED.iter().any(|kind| source.has(kind)) {
            told.say(&format!(
                "volume {volume:?} (Projected) has no sources provided"
            ));
            continue;
        }
        for overlap in overlaps(projected_files(source), &mut taken) {
            told.say(&format!(
                "volume {volume:?} (Projected): overlapping paths: {overlap}"
            ));
        }
    }
}

fn projected_files(source: At<'_>) -> Vec<VirtualPath> {
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

fn files(source: At<'_>, described: &str) -> Vec<VirtualPath> {
    let items = source.field("items");
    let paths = items.items().map(|item| item.text_of("path"));
    paths
        .map(|path| VirtualPath::new(path, described))
        .collect()
}

/// What each new path has in common with those that are taken, which it joins.
fn overlaps(new: Vec<VirtualPath>, taken: &mut Vec<VirtualPath>) -> Vec<String> {
    let mut found = Vec::new();
    for path in new {
        let others = taken.iter().filter(|other| other.overlaps(&path));
        found.extend(others.map(|other| format!("{path} with {other}")));
        taken.push(path);
    }
    found
}

/// A path in a volume, and where its content comes from.
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

    /// Whether both are the same, or one is a folder of the other.
    fn overlaps(&self, other: &Self) -> bool {
        let is_at_or_under = |path: &str, folder: &str| {
            let rest = path.strip_prefix(folder);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let (one, other) = (self.path.as_str(), other.path.as_str());
        let is_told = !one.is_empty() && !other.is_empty();
        is_told && (is_at_or_under(one, other) || is_at_or_under(other, one))
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
