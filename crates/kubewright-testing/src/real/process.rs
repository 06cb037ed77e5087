use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use parking_lot::Mutex;

use crate::Error;
use crate::control_plane::{ControlPlane, Program};

/// A running program of a control plane; dropped, it ends.
#[derive(Debug)]
pub(super) struct Process {
    program: Program,
    /// The program's file, its flags, and where it runs.
    path: PathBuf,
    flags: Vec<String>,
    folder: PathBuf,
    child: Mutex<Child>,
    log: PathBuf,
}

const TAIL_LINES: usize = 20;

impl Process {
    /// Starts a program in the run's folder, with its output in a file there.
    pub(super) fn start(
        control_plane: &ControlPlane,
        program: Program,
        flags: &[String],
        folder: &Path,
    ) -> Result<Self, Error> {
        let path = control_plane.program(program)?;
        let log = folder.join(format!("{}.log", program.name()));
        let child = spawn(&path, flags, (folder, &log))?;
        Ok(Self {
            program,
            path,
            flags: flags.to_vec(),
            folder: folder.to_owned(),
            child: Mutex::new(child),
            log,
        })
    }

    /// Ends the program and starts it again as it was; it has another number then.
    pub(super) fn restart(&self) -> Result<(), Error> {
        let mut child = self.child.lock();
        end(&mut child);
        *child = spawn(&self.path, &self.flags, (&self.folder, &self.log))?;
        Ok(())
    }

    pub(super) fn id(&self) -> u32 {
        self.child.lock().id()
    }

    pub(super) fn program(&self) -> Program {
        self.program
    }

    /// How it ended, if it has.
    pub(super) fn ended(&self) -> Option<String> {
        match self.child.lock().try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => Some(status.to_string()),
            Err(error) => Some(error.to_string()),
        }
    }

    /// The end of its log.
    pub(super) fn tail(&self) -> String {
        let bytes = fs::read(&self.log).unwrap_or_default();
        crate::progress::tail(&String::from_utf8_lossy(&bytes), TAIL_LINES)
    }

    /// An error that shows how the program was started and what it said last.
    pub(super) fn not_ready(&self, state: String) -> Error {
        Error::NotReady {
            program: self.program.name(),
            state,
            command: command_line(&self.path, &self.flags),
            tail: self.tail(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        end(self.child.get_mut());
    }
}

/// Starts a program; what it says is added to its log.
fn spawn(path: &Path, flags: &[String], (folder, log): (&Path, &Path)) -> Result<Child, Error> {
    let output = File::options()
        .create(true)
        .append(true)
        .open(log)
        .and_then(|file| Ok((file.try_clone()?, file)))
        .map_err(|source| Error::Write {
            path: log.to_owned(),
            source,
        })?;
    // A group of its own: an interrupt at the terminal ends the test, and the guard the rest.
    Command::new(path)
        .args(flags)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(output.0)
        .stderr(output.1)
        .process_group(0)
        .spawn()
        .map_err(|source| Error::Spawn {
            command: command_line(path, flags),
            source,
        })
}

/// It may have ended by itself; until wait() its number belongs to no other process.
fn end(child: &mut Child) {
    child.kill().unwrap_or_default();
    child.wait().map(drop).unwrap_or_default();
}

fn command_line(path: &Path, flags: &[String]) -> String {
    format!("{} {}", path.display(), flags.join(" "))
}
