//! The images of containers and volumes.

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;

pub(super) const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];

/// Whether the tag of an image is `latest` or absent (`parsers.ParseImageName`).
pub(super) fn image_tag_is_latest(image: &str) -> bool {
    if image.is_empty() || image.contains('@') {
        return false;
    }
    let (_, name) = image.rsplit_once('/').unwrap_or(("", image));
    match name.split_once(':') {
        Some((_, tag)) => tag == "latest",
        None => is_reference(image),
    }
}

/// Whether an image without a tag is a valid reference; Kubernetes finds no tag in others.
fn is_reference(image: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-/:".contains(c);
    let upper_only_in_host = match image.split_once('/') {
        Some((host, rest)) => {
            host.chars()
                .all(|c| c.is_ascii_alphanumeric() || ".-:_".contains(c))
                && rest.chars().all(fits)
        }
        None => image.chars().all(fits),
    };
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    upper_only_in_host && edge(image.chars().next()) && edge(image.chars().last())
}

/// Requires an image without surrounding whitespace.
pub(crate) fn validate_image_whitespace(image: FieldPath<'_>, errors: &mut ErrorList) {
    if image.text().trim() != image.text() {
        errors.invalid(image, "must not have leading or trailing whitespace");
    }
}

#[cfg(test)]
mod tests {
    use super::image_tag_is_latest;

    #[test]
    fn image_without_a_tag_is_latest() {
        for image in ["nginx", "nginx:latest", "localhost:5000/a/b", "Host/a"] {
            assert!(image_tag_is_latest(image), "{image}");
        }
        for image in [
            "nginx:1",
            "",
            "UPPER",
            "a@sha256:0",
            "localhost:5000/a:2",
            "a b",
        ] {
            assert!(!image_tag_is_latest(image), "{image}");
        }
    }
}
