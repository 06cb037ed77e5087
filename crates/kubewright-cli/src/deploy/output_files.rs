//! The files of a chart or a kustomization. They are output only: a later run replaces them, and
//! deletes those that are no longer needed.

use std::io;
use std::path::Path;

use kubewright_manifest::{OutputFile, stale_files};

use crate::error::Error;
use crate::objects::text_difference;
use crate::output::print_line;

/// Returns what writing the files would change, one line each, followed by the changed lines.
pub(super) fn changes(folder: &Path, files: &[OutputFile]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut same = 0;
    for file in files {
        let path = folder.join(&file.path);
        let (action, old) = match std::fs::read_to_string(&path) {
            Ok(old) if old == file.text => {
                same += 1;
                continue;
            }
            Ok(old) => ("changed", old),
            Err(_) => ("new    ", String::new()),
        };
        lines.push(format!("{action}  {}", path.display()));
        let difference = text_difference(&old, &file.text).into_iter();
        lines.extend(difference.map(|line| format!("    {line}")));
    }
    let deleted = leftovers(folder, files)
        .into_iter()
        .map(|path| folder.join(path))
        .filter(|path| path.is_file());
    lines.extend(deleted.map(|path| format!("delete   {}", path.display())));
    if same > 0 {
        lines.push(format!("same     {same} files"));
    }
    lines
}

/// Writes the files, and deletes those that only an earlier call wrote.
pub(super) fn write(folder: &Path, files: &[OutputFile]) -> Result<(), Error> {
    // Found first: they depend on the files that exist before the write.
    let leftovers = leftovers(folder, files);
    for file in files {
        let path = folder.join(&file.path);
        let failed = |source| Error::File {
            action: "write",
            path: path.clone(),
            source,
        };
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        std::fs::write(&path, &file.text).map_err(failed)?;
        print_line(format_args!("wrote    {}", path.display()));
    }
    for path in leftovers.iter().map(|path| folder.join(path)) {
        match std::fs::remove_file(&path) {
            Ok(()) => print_line(format_args!("removed  {}", path.display())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => {
                return Err(Error::File {
                    action: "remove",
                    path,
                    source,
                });
            }
        }
    }
    Ok(())
}

/// Returns the files that an earlier call may have written and that are not among these.
fn leftovers(folder: &Path, files: &[OutputFile]) -> Vec<String> {
    // The index is the first file: without it, no earlier call has written to the folder.
    let index = files.first().map(|index| folder.join(&index.path));
    if index.is_some_and(|index| index.is_file()) {
        stale_files(files)
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use kubewright_manifest::OutputFile;

    use super::{changes, write};

    fn files(paths: &[&str]) -> Vec<OutputFile> {
        let file = |path: &&str| OutputFile {
            path: (*path).to_owned(),
            text: String::new(),
        };
        paths.iter().map(file).collect()
    }

    #[test]
    fn file_of_a_removed_component_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let own = folder.join("templates/notes.yaml");
        fs::create_dir(folder.join("templates")).unwrap();
        fs::write(&own, "mine").unwrap();
        let monitor = "templates/prometheus.yaml";
        write(
            folder,
            &files(&["Chart.yaml", "templates/rbac.yaml", monitor]),
        )
        .unwrap();
        assert!(folder.join(monitor).is_file());
        write(folder, &files(&["Chart.yaml", "templates/rbac.yaml"])).unwrap();
        assert!(!folder.join(monitor).exists());
        assert!(own.is_file() && folder.join("templates/rbac.yaml").is_file());
    }

    #[test]
    fn dry_run_shows_changed_lines_and_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let with = |texts: &[(&str, &str)]| -> Vec<OutputFile> {
            let file = |(path, text): &(&str, &str)| OutputFile {
                path: (*path).to_owned(),
                text: (*text).to_owned(),
            };
            texts.iter().map(file).collect()
        };
        let first = [
            ("kustomization.yaml", "a\n"),
            ("crds.yaml", "b\n"),
            ("prometheus.yaml", "c\n"),
        ];
        write(folder, &with(&first)).unwrap();
        let second = with(&[
            ("kustomization.yaml", "a\n"),
            ("crds.yaml", "x\n"),
            ("rbac.yaml", "y\n"),
        ]);
        let lines = changes(folder, &second).join("\n");
        assert_eq!(
            lines.replace(&format!("{}/", folder.display()), ""),
            "changed  crds.yaml\n    - b\n    + x\nnew      rbac.yaml\n    + y\n\
             delete   prometheus.yaml\nsame     1 files"
        );
        assert_eq!(fs::read_to_string(folder.join("crds.yaml")).unwrap(), "b\n");
        assert!(!folder.join("rbac.yaml").exists() && folder.join("prometheus.yaml").exists());
    }

    #[test]
    fn files_in_a_folder_without_an_earlier_call_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("prometheus.yaml");
        fs::write(&own, "mine").unwrap();
        write(folder.path(), &files(&["kustomization.yaml", "rbac.yaml"])).unwrap();
        assert!(own.is_file());
    }
}
