use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use super::elf::{interpreter, is_elf};
use crate::error::Error;

/// A file of the image and where it is taken from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// Where it is in the image, and on this machine but for the program.
    pub(super) path: String,
    pub(super) content: Vec<u8>,
}

/// What the header of an archive's entry has room for.
const LONGEST_PATH: usize = 100;

/// The program's bytes, and the libraries that it needs beside it with their loader.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn files(program: &Path) -> Result<(Vec<u8>, Vec<Source>), Error> {
    let content = read(program)?;
    if !is_elf(&content) {
        return Err(Error::NotForLinux {
            program: program.to_owned(),
        });
    }
    let Some(loader) = interpreter(&content) else {
        return Ok((content, Vec::new()));
    };
    let mut libraries = Vec::new();
    for path in libraries_of(program, &loader).await? {
        if path.len() > LONGEST_PATH {
            return Err(Error::FailedSaying {
                command: format!("put {path} into an image"),
                said: format!("its path is longer than {LONGEST_PATH} letters"),
            });
        }
        let content = read(Path::new(&path))?;
        libraries.push(Source { path, content });
    }
    libraries.sort_by(|one, other| one.path.cmp(&other.path));
    Ok((content, libraries))
}

/// Asks the loader itself, which knows where this system keeps libraries.
async fn libraries_of(program: &Path, loader: &str) -> Result<Vec<String>, Error> {
    let command = format!("{loader} --list {}", program.display());
    let output = Command::new(loader)
        .arg("--list")
        .arg(program)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|source| Error::Start {
            command: command.clone(),
            source,
        })?;
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() || listed.contains("=> not found") {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = format!("{listed}{said}").trim().to_owned();
        return Err(Error::FailedSaying { command, said });
    }
    let mut paths = paths(&listed);
    paths.push(loader.to_owned());
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// The files in lines such as `libc.so.6 => /lib/libc.so.6 (0x7f..)`; the loader is named without
/// an arrow, and what the kernel brings along is no file.
fn paths(listed: &str) -> Vec<String> {
    let lines = listed.lines().filter_map(|line| {
        let path = line.split_once("=> ").map_or(line, |(_, path)| path).trim();
        let path = path.split(" (").next().unwrap_or_default();
        path.starts_with('/').then(|| path.to_owned())
    });
    lines.collect()
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|source| Error::File {
        action: "read",
        path: PathBuf::from(path),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::paths;

    #[test]
    fn files_are_found_in_what_a_loader_lists() {
        let listed = "\tlinux-vdso.so.1 (0x00007ffd)\n\
                      \tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f01)\n\
                      \t/lib64/ld-linux-x86-64.so.2 (0x00007f02)\n";
        assert_eq!(
            paths(listed),
            [
                "/lib/x86_64-linux-gnu/libm.so.6",
                "/lib64/ld-linux-x86-64.so.2"
            ]
        );
    }
}
