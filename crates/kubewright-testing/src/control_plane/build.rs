//! Builds the programs of a release.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use super::go::{Go, Target};
use super::program::Program;
use super::release::Release;
use crate::Error;

/// Builds programs of one release into one folder.
#[derive(Debug)]
pub(super) struct Build<'a> {
    pub(super) release: &'a Release,
    /// The folder of the built programs.
    pub(super) folder: &'a Path,
    pub(super) go: Go<'a>,
}

impl Build<'_> {
    /// Removes the temporary files of interrupted builds. Needs the lock of the folder.
    pub(super) fn remove_leftovers(&self) -> Result<(), Error> {
        let entries = fs::read_dir(self.folder).map_err(|source| self.not_writable(source))?;
        for entry in entries.filter_map(Result::ok) {
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                fs::remove_file(entry.path()).map_err(|source| self.not_writable(source))?;
            }
        }
        Ok(())
    }

    /// Builds a program, checks its version, and moves it into the folder.
    pub(super) async fn build(&self, program: Program) -> Result<(), Error> {
        let temporary = self
            .folder
            .join(format!(".{}.{}", program.name(), std::process::id()));
        self.compile(program, &temporary).await?;
        self.verify(program, &temporary).await?;
        let target = self.folder.join(program.name());
        fs::rename(&temporary, &target).map_err(|source| self.not_writable(source))
    }

    /// Checks the version that a program reports.
    pub(super) async fn verify(&self, program: Program, file: &Path) -> Result<(), Error> {
        let expected = self.release.expected_version_output(program);
        let output = Command::new(file)
            .args(program.version_arguments())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await;
        let found = match output {
            Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
            Err(error) => error.to_string(),
        };
        if found.contains(&expected) {
            return Ok(());
        }
        Err(Error::WrongVersion {
            program: file.to_owned(),
            expected,
            found,
        })
    }

    async fn compile(&self, program: Program, output: &Path) -> Result<(), Error> {
        let module = self
            .write_module(program)
            .map_err(|source| self.not_writable(source))?;
        let target = Target {
            name: program.name(),
            module: &module,
            package: program.package(),
            linker_flags: &self.release.linker_flags(program),
            output,
        };
        self.go.build(target).await
    }

    fn write_module(&self, program: Program) -> io::Result<PathBuf> {
        let module = self.release.module(program);
        let folder = self.folder.join("module").join(module.name);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("go.mod"), module.go_mod.as_bytes())?;
        fs::write(folder.join("go.sum"), module.go_sum.as_bytes())?;
        Ok(folder)
    }

    fn not_writable(&self, source: io::Error) -> Error {
        Error::CacheNotWritable {
            folder: self.folder.to_owned(),
            source,
        }
    }
}
