//! Objects in YAML files.

use std::path::Path;

use serde_json::Value;

use crate::error::Error;

/// Reads the objects in a text of YAML documents.
pub(crate) fn read(origin: &str, text: &str) -> Result<Vec<Value>, Error> {
    kubewright_wire::yaml::documents(text).map_err(|source| Error::Document {
        origin: origin.to_owned(),
        source,
    })
}

/// Reads the objects in the `.yaml` and `.yml` files of a folder, in the order of the file names.
pub(crate) fn read_folder(folder: &Path) -> Result<Vec<Value>, Error> {
    let failed = |source| Error::File {
        action: "read the samples in",
        path: folder.to_owned(),
        source,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml")
        {
            files.push(path);
        }
    }
    files.sort();
    let mut objects = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(|source| Error::File {
            action: "read",
            path: file.clone(),
            source,
        })?;
        objects.extend(read(&file.display().to_string(), &text)?);
    }
    Ok(objects)
}
