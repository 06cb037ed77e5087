//! The image: layers, configuration, manifest, index, and the OCI archive of all of them.

use serde_json::{Value, json};

use super::archive::Archive;
use super::blob::{Blob, gzip, sha256};
use super::libraries::Library;
use super::platform::Platform;
use crate::error::Error;
use crate::program::Package;

const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// The path of the program in an image.
const PROGRAM: &str = "/operator";
/// The user of the program, also in the Deployment that `manifests` prints.
const USER: &str = "65532:65532";
/// The time in all images: an image must depend only on its program.
const NO_TIME: &str = "1970-01-01T00:00:00Z";

/// An image for one platform or several.
#[derive(Debug)]
pub(super) struct Image {
    /// The manifest, or the index for several platforms: the name of the image refers to it.
    pub(super) root: Blob,
    /// The manifests of an index; empty when the root is a manifest.
    pub(super) manifests: Vec<Blob>,
    /// Configurations and layers.
    pub(super) parts: Vec<Blob>,
    /// The size of all layers before compression.
    pub(super) unpacked: usize,
}

/// Builds an image for one platform.
pub(super) fn image(
    package: &Package,
    platform: Platform,
    program: &[u8],
    libraries: &[Library],
) -> Result<Image, Error> {
    let mut layers = Vec::new();
    if !libraries.is_empty() {
        let mut archive = Archive::default();
        for library in libraries {
            archive.program(&library.path, &library.content);
        }
        layers.push(archive.finish());
    }
    let mut archive = Archive::default();
    archive.program(PROGRAM, program);
    layers.push(archive.finish());
    let unpacked = layers.iter().map(Vec::len).sum();
    let digests: Vec<String> = layers.iter().map(|layer| sha256(layer)).collect();
    let mut parts = vec![Blob::of_json(CONFIG, &config(package, platform, &digests))];
    for layer in layers {
        parts.push(Blob::new(LAYER, gzip(&layer)?));
    }
    let descriptors: Vec<Value> = parts.iter().map(Blob::descriptor).collect();
    let (config, layers) = descriptors
        .split_first()
        .expect("the configuration is the first part");
    let root = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config,
        "layers": layers,
        "annotations": labels(package),
    });
    Ok(Image {
        root: Blob::of_json(MANIFEST, &root),
        manifests: Vec::new(),
        parts,
        unpacked,
    })
}

fn config(package: &Package, platform: Platform, layers: &[String]) -> Value {
    json!({
        "created": NO_TIME,
        "architecture": platform.architecture,
        "os": "linux",
        "config": {
            "Entrypoint": [PROGRAM],
            "User": USER,
            "WorkingDir": "/",
            "Labels": labels(package),
        },
        "rootfs": {"type": "layers", "diff_ids": layers},
        "history": layers
            .iter()
            .map(|_| json!({"created": NO_TIME, "created_by": "kubewright image"}))
            .collect::<Vec<_>>(),
    })
}

/// Returns the annotations of the image specification that `Cargo.toml` has values for.
fn labels(package: &Package) -> Value {
    let known = [
        ("title", Some(&package.name)),
        ("version", Some(&package.version)),
        ("description", package.description.as_ref()),
        ("licenses", package.license.as_ref()),
        ("source", package.repository.as_ref()),
    ];
    let mut labels = json!({});
    for (name, value) in known {
        if let Some(value) = value {
            labels[format!("org.opencontainers.image.{name}")] = json!(value);
        }
    }
    labels
}

/// Returns one image for the platforms of all images.
pub(super) fn join(mut images: Vec<(Platform, Image)>) -> Image {
    if images.len() == 1
        && let Some((_, only)) = images.pop()
    {
        return only;
    }
    let mut entries = Vec::new();
    let mut manifests = Vec::new();
    let mut parts: Vec<Blob> = Vec::new();
    let mut unpacked = 0;
    for (platform, image) in images {
        let mut entry = image.root.descriptor();
        entry["platform"] = json!({"os": "linux", "architecture": platform.architecture});
        entries.push(entry);
        manifests.push(image.root);
        parts.extend(image.parts);
        unpacked += image.unpacked;
    }
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries});
    Image {
        root: Blob::of_json(INDEX, &index),
        manifests,
        parts,
        unpacked,
    }
}

impl Image {
    /// Returns the image as an OCI archive: an image layout in a tar file.
    pub(super) fn archive(&self, name: Option<&str>) -> Vec<u8> {
        let mut root = self.root.descriptor();
        if let Some(name) = name {
            root["annotations"] = json!({"org.opencontainers.image.ref.name": name});
        }
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [root]});
        let mut archive = Archive::default();
        let layout = json!({"imageLayoutVersion": "1.0.0"});
        archive.file("oci-layout", layout.to_string().as_bytes());
        archive.file("index.json", index.to_string().as_bytes());
        let mut blobs: Vec<&Blob> = self.parts.iter().chain(&self.manifests).collect();
        blobs.push(&self.root);
        blobs.sort_by(|a, b| a.digest.cmp(&b.digest));
        blobs.dedup_by(|a, b| a.digest == b.digest);
        for blob in blobs {
            let path = format!("blobs/{}", blob.digest.replace(':', "/"));
            archive.file(&path, &blob.bytes);
        }
        archive.finish()
    }
}
