//! The program's bytes, and the libraries that it needs.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use super::elf::{interpreter, is_elf};
use crate::error::Error;

/// A library or the loader of a dynamic program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Library {
    /// The path in the image and on this machine.
    pub(super) path: String,
    pub(super) content: Vec<u8>,
}

/// The length of the path in the header of an archive entry.
const LONGEST_PATH: usize = 100;

/// Reads the program and the libraries that it needs, with their loader.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn program_with_libraries(
    program: &Path,
) -> Result<(Vec<u8>, Vec<Library>), Error> {
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
            return Err(Error::FailedWithOutput {
                command: format!("put {path} into an image"),
                output: format!("its path is longer than {LONGEST_PATH} characters"),
            });
        }
        let content = read(Path::new(&path))?;
        libraries.push(Library { path, content });
    }
    libraries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((content, libraries))
}

/// Lists the libraries with the loader, which knows the library paths of the system.
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
        let errors = String::from_utf8_lossy(&output.stderr);
        let output = format!("{listed}{errors}").trim().to_owned();
        return Err(Error::FailedWithOutput { command, output });
    }
    let mut paths = paths(&listed);
    paths.push(loader.to_owned());
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// Returns the paths in lines such as `libc.so.6 => /lib/libc.so.6 (0x7f..)`. The line of the loader
/// has no arrow; the vDSO of the kernel has no path.
fn paths(listed: &str) -> Vec<String> {
    let lines = listed.lines().filter_map(|line| {
        let target = line.split_once("=> ").map_or(line, |(_, target)| target);
        let path = target.trim().split(" (").next().unwrap_or_default();
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
    fn paths_are_parsed_from_the_output_of_the_loader() {
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
