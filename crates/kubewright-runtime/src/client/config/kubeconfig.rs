//! Kubeconfig files, read and merged as kubectl does.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use kube::config::{Kubeconfig, KubeconfigError};
use kubewright_wire::yaml::{YamlError, documents};

use super::encoding::text_of;
use crate::Error;

/// Reads a kubeconfig: merges its documents, and resolves its paths against its folder.
pub(in crate::client) fn read_file(path: &Path) -> Result<Kubeconfig, Error> {
    read(path).map_err(|source| Error::Kubeconfig {
        path: path.display().to_string(),
        source: source.into(),
    })
}

/// Reads and merges the files that `KUBECONFIG` lists; none when it lists none.
pub(in crate::client) fn from_environment() -> Result<Option<Kubeconfig>, Error> {
    let Some(value) = std::env::var_os("KUBECONFIG") else {
        return Ok(None);
    };
    let paths = std::env::split_paths(&value).filter(|path| !path.as_os_str().is_empty());
    merge_files(paths)
}

/// The kubeconfig in the home folder, if it exists.
pub(in crate::client) fn home_file() -> Option<PathBuf> {
    let path = std::env::home_dir()?.join(".kube").join("config");
    path.exists().then_some(path)
}

/// Why a file is not a kubeconfig.
#[derive(Debug, thiserror::Error)]
enum FileError {
    #[error("the file cannot be read")]
    Read(#[source] std::io::Error),
    #[error("the file is neither UTF-8 nor UTF-16 with a byte order mark")]
    Encoding,
    #[error("the file is not YAML")]
    Yaml(#[source] YamlError),
    #[error("this is not a kubeconfig: {0}")]
    Shape(String),
    #[error("its documents cannot be merged")]
    Merge(#[source] KubeconfigError),
}

/// Reads and merges files. The first file that has a value, or an entry of a name, wins, as with
/// kubectl.
pub(in crate::client) fn merge_files(
    paths: impl Iterator<Item = PathBuf>,
) -> Result<Option<Kubeconfig>, Error> {
    let mut merged: Option<Kubeconfig> = None;
    for path in paths {
        let next = read_file(&path)?;
        let all = match merged {
            None => next,
            Some(first) => first.merge(next).map_err(|source| Error::Kubeconfig {
                path: path.display().to_string(),
                source: FileError::Merge(source).into(),
            })?,
        };
        merged = Some(all);
    }
    Ok(merged)
}

fn read(path: &Path) -> Result<Kubeconfig, FileError> {
    let bytes = std::fs::read(path).map_err(FileError::Read)?;
    let text = text_of(bytes).ok_or(FileError::Encoding)?;
    let mut config = parse(&text)?;
    if let Some(folder) = path.parent() {
        resolve(&mut config, folder);
    }
    Ok(config)
}

fn parse(text: &str) -> Result<Kubeconfig, FileError> {
    let documents = documents(text).map_err(FileError::Yaml)?;
    documents
        .into_iter()
        .try_fold(Kubeconfig::default(), |all, document| {
            let next = serde_json::from_value(document)
                .map_err(|error| FileError::Shape(without_value(&error)))?;
            all.merge(next).map_err(FileError::Merge)
        })
}

/// The error without the wrong value, which can be a token.
fn without_value(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.split_once(", expected ") {
        Some((_, expected)) => format!(
            "a value has the wrong type, expected {expected}; put quotes around a number or boolean \
             that is meant as text"
        ),
        None => text,
    }
}

/// Resolves relative paths against the folder of the kubeconfig. As in client-go, a command is only
/// resolved when it is a path; a bare name is searched in `PATH`.
fn resolve(config: &mut Kubeconfig, folder: &Path) {
    let clusters = config.clusters.iter_mut();
    for cluster in clusters.filter_map(|named| named.cluster.as_mut()) {
        resolve_path(folder, &mut cluster.certificate_authority);
    }
    let users = config.auth_infos.iter_mut();
    for user in users.filter_map(|named| named.auth_info.as_mut()) {
        resolve_path(folder, &mut user.client_certificate);
        resolve_path(folder, &mut user.client_key);
        resolve_path(folder, &mut user.token_file);
        if let Some(exec) = &mut user.exec
            && exec
                .command
                .as_ref()
                .is_some_and(|command| command.contains(MAIN_SEPARATOR))
        {
            resolve_path(folder, &mut exec.command);
        }
    }
}

fn resolve_path(folder: &Path, path: &mut Option<String>) {
    let Some(named) = path.as_deref().filter(|named| !named.is_empty()) else {
        return;
    };
    let resolved = folder.join(named);
    if let Some(text) = resolved.to_str() {
        *path = Some(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;
    use std::fs;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::{FileError, merge_files, parse, read_file};

    fn written(files: &[(&str, &str)]) -> (TempDir, Vec<PathBuf>) {
        let folder = TempDir::new().unwrap();
        let write = |(name, text): &(&str, &str)| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let paths = files.iter().map(write).collect();
        (folder, paths)
    }

    #[test]
    fn first_file_that_has_a_value_wins() {
        let first = "current-context: one\nusers:\n- {name: red, user: {username: first}}\n";
        let second = "---\n---\ncurrent-context: two\nusers:\n\
                      - {name: red, user: {username: second, tokenFile: t}}\n\
                      ---\nusers:\n- {name: blue, user: {username: third}}\n";
        let (_folder, paths) = written(&[("first", first), ("second", second), ("third", "")]);
        let config = merge_files(paths.into_iter()).unwrap().unwrap();
        assert_eq!(config.current_context.as_deref(), Some("one"));
        let users: Vec<_> = config
            .auth_infos
            .iter()
            .map(|user| user.name.as_str())
            .collect();
        assert_eq!(users, ["red", "blue"]);
        let red = config.auth_infos[0].auth_info.as_ref().unwrap();
        assert_eq!(
            (red.username.as_deref(), &red.token_file),
            (Some("first"), &None)
        );
        assert!(merge_files(std::iter::empty()).unwrap().is_none());
    }

    #[test]
    fn paths_are_resolved_against_the_folder_of_the_file() {
        let text = "clusters:\n- {name: c, cluster: {certificate-authority: pki/ca.crt}}\n\
                    users:\n\
                    - {name: a, user: {client-certificate: a.crt, client-key: /etc/a.key}}\n\
                    - {name: b, user: {tokenFile: ../token, exec: {command: bin/plugin}}}\n\
                    - {name: c, user: {exec: {command: aws}}}\n";
        let (folder, paths) = written(&[("config", text)]);
        let config = read_file(&paths[0]).unwrap();
        let inside = |name: &str| Some(folder.path().join(name).to_str().unwrap().to_owned());
        let cluster = config.clusters[0].cluster.as_ref().unwrap();
        assert_eq!(cluster.certificate_authority, inside("pki/ca.crt"));
        let users: Vec<_> = config
            .auth_infos
            .iter()
            .filter_map(|user| user.auth_info.as_ref())
            .collect();
        assert_eq!(users[0].client_certificate, inside("a.crt"));
        assert_eq!(users[0].client_key.as_deref(), Some("/etc/a.key"));
        assert_eq!(users[1].token_file, inside("../token"));
        assert_eq!(
            users[1].exec.as_ref().unwrap().command,
            inside("bin/plugin")
        );
        assert_eq!(
            users[2].exec.as_ref().unwrap().command.as_deref(),
            Some("aws")
        );
    }

    #[test]
    fn error_has_file_and_line_and_no_secret() {
        let (_folder, paths) = written(&[("broken", "users:\n- name: a\n  [1, 2]: b\n")]);
        let error = read_file(&paths[0]).unwrap_err();
        assert!(error.to_string().contains("broken"), "{error}");
        let file_error = error.source().unwrap();
        let cause = file_error.source().unwrap().to_string();
        assert!(cause.contains("line 3"), "{cause}");
        for text in [
            "users:\n- {name: a, user: {token: 4711}}",
            "users: sesame4711",
        ] {
            let error = parse(text).unwrap_err();
            assert!(matches!(error, FileError::Shape(_)));
            assert!(!format!("{error} {error:?}").contains("4711"), "{error}");
        }
    }
}
