//! A process of a control plane.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use parking_lot::Mutex;

use crate::Error;
use crate::control_plane::{ControlPlane, Program};

/// A running program of a control plane, which is killed when dropped.
#[derive(Debug)]
pub(super) struct Process {
    program: Program,
    launch: Launch,
    child: Mutex<Child>,
}

/// How a program is started.
#[derive(Debug)]
struct Launch {
    path: PathBuf,
    flags: Vec<String>,
    /// The working directory.
    folder: PathBuf,
    /// The file that output is appended to.
    log: PathBuf,
}

const TAIL_LINES: usize = 20;

impl Process {
    /// Starts a program in the run's folder, with a log file there.
    pub(super) fn start(
        control_plane: &ControlPlane,
        program: Program,
        flags: &[String],
        folder: &Path,
    ) -> Result<Self, Error> {
        let launch = Launch {
            path: control_plane.program(program)?,
            flags: flags.to_vec(),
            folder: folder.to_owned(),
            log: folder.join(format!("{}.log", program.name())),
        };
        let child = launch.spawn()?;
        Ok(Self {
            program,
            launch,
            child: Mutex::new(child),
        })
    }

    /// Kills the program and starts it again with the same flags, as another process.
    pub(super) fn restart(&self) -> Result<(), Error> {
        let mut child = self.child.lock();
        kill(&mut child);
        *child = self.launch.spawn()?;
        Ok(())
    }

    pub(super) fn id(&self) -> u32 {
        self.child.lock().id()
    }

    pub(super) fn program(&self) -> Program {
        self.program
    }

    /// How the process ended; `None` while it runs.
    pub(super) fn exit_status(&self) -> Option<String> {
        match self.child.lock().try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => Some(status.to_string()),
            Err(error) => Some(error.to_string()),
        }
    }

    /// The end of its log.
    pub(super) fn tail(&self) -> String {
        let bytes = fs::read(&self.launch.log).unwrap_or_default();
        crate::progress::tail(&String::from_utf8_lossy(&bytes), TAIL_LINES)
    }

    /// An error that contains the command line and the end of the log.
    pub(super) fn not_ready(&self, state: String) -> Error {
        Error::NotReady {
            program: self.program.name(),
            state,
            command: self.launch.command_line(),
            tail: self.tail(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        kill(self.child.get_mut());
    }
}

impl Launch {
    fn spawn(&self) -> Result<Child, Error> {
        let (stdout, stderr) = File::options()
            .create(true)
            .append(true)
            .open(&self.log)
            .and_then(|file| Ok((file.try_clone()?, file)))
            .map_err(|source| Error::Write {
                path: self.log.clone(),
                source,
            })?;
        // A process group of its own: an interrupt at the terminal ends the test, and then the
        // guard ends this process.
        Command::new(&self.path)
            .args(&self.flags)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .process_group(0)
            .spawn()
            .map_err(|source| Error::Spawn {
                command: self.command_line(),
                source,
            })
    }

    fn command_line(&self) -> String {
        format!("{} {}", self.path.display(), self.flags.join(" "))
    }
}

fn kill(child: &mut Child) {
    // Fails if the process has ended. Its id is not reused before wait().
    drop(child.kill());
    drop(child.wait());
}
