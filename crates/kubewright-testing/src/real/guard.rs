//! Ends the processes of a run when this process is gone.

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::Error;

/// A shell that cleans up after this process.
///
/// It reads a pipe whose only other end is in this process. When this process ends for whatever
/// reason, the pipe closes, and the shell kills the recorded processes and removes the run's folder.
#[derive(Debug)]
pub(super) struct Guard {
    shell: Child,
    pipe: Option<ChildStdin>,
}

// A process id may belong to another process by then: a process of the run has the run's folder as
// its working directory. Without /proc (macOS) its command line contains the folder.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
folder=$1
processes=
while IFS= read -r line; do
  if [ "$line" = done ]; then exit 0; fi
  processes="$line $processes"
done
for process in $processes; do
  if [ -d /proc/self ]; then
    found=$(readlink "/proc/$process/cwd")
    [ "$found" = "$folder" ] && kill -9 "$process"
  else
    case $(ps -ww -o command= -p "$process") in *"$folder"*) kill -9 "$process" ;; esac
  fi
done
# A killed process may still have written a file.
rm -rf "$folder" || { sleep 1; rm -rf "$folder"; }
"#;

impl Guard {
    /// Starts the guard of a run's folder.
    pub(super) fn start(folder: &Path) -> Result<Self, Error> {
        let failed = |source: io::Error| Error::Spawn {
            command: "sh".to_owned(),
            source,
        };
        let folder = folder.canonicalize().map_err(failed)?;
        let mut shell = Command::new("sh")
            .arg("-c")
            .arg(SCRIPT)
            .arg("kubewright-guard")
            .arg(folder)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let pipe = shell.stdin.take();
        Ok(Self { shell, pipe })
    }

    /// Records a process that ends with this one.
    pub(super) fn watch(&mut self, process: u32) -> Result<(), Error> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(());
        };
        writeln!(pipe, "{process}").map_err(|source| Error::Spawn {
            command: "sh".to_owned(),
            source,
        })
    }
}

/// The processes have been stopped: the shell ends without killing anything.
impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            // Fails only if the shell has been killed.
            drop(writeln!(pipe, "done"));
        }
        // Fails only if the shell was waited for elsewhere.
        drop(self.shell.wait());
    }
}
