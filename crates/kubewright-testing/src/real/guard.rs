use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::Error;

/// A shell that outlives this process by a moment and ends what it left behind.
///
/// It reads a pipe whose only other end is here. When this process is gone, however it went, the
/// pipe ends, and the shell ends the recorded processes and removes the run's folder.
#[derive(Debug)]
pub(super) struct Guard {
    shell: Child,
    pipe: Option<ChildStdin>,
}

// A number may belong to another process by then: only one whose working folder is the run's is
// ours. Without /proc (macOS) the command line is looked at, which names the folder.
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
# What was just ended may still have been writing.
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

    /// Records a process to be ended with this one.
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

/// The processes have ended orderly: the guard has nothing left to do.
impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            writeln!(pipe, "done").unwrap_or_default();
        }
        self.shell.wait().map(drop).unwrap_or_default();
    }
}
