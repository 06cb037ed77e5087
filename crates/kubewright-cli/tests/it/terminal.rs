//! `kubewright dev` on a terminal.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Child;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::kubewright;

const ENTER: &str = "\u{1b}[?1049h";
/// A build comes first, perhaps on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);
const LEAVE: &str = "\u{1b}[?1049l";

/// A terminal that a test sits at.
struct Terminal {
    master: File,
    slave: File,
    /// What a thread reads; it ends with the other end.
    read: Receiver<String>,
    seen: String,
}

impl Terminal {
    fn open() -> Self {
        let master: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("it is ours");
        unlockpt(&master).expect("it opens");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let path = name.to_str().expect("a path in UTF-8");
        let slave = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .expect("its other end");
        let size = Winsize {
            ws_row: 30,
            ws_col: 100,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&master, size).expect("a size");
        let master = File::from(master);
        let (told, read) = sync_channel(64);
        let mut reader = master.try_clone().expect("another handle");
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let read = bytes.get(..count).unwrap_or_default();
                if told
                    .send(String::from_utf8_lossy(read).into_owned())
                    .is_err()
                {
                    return;
                }
            }
        });
        Self {
            master,
            slave,
            read,
            seen: String::new(),
        }
    }

    /// Reads on until the text stands on the screen.
    fn shows(&mut self, text: &str) {
        while !self.seen.contains(text) {
            let more = self.read.recv_timeout(PATIENCE);
            let more = more.expect("the program goes on writing");
            self.seen.push_str(&more);
        }
    }

    fn is_as_a_shell_wants_it(&self) -> bool {
        let modes = tcgetattr(&self.slave).expect("its settings").local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }
}

/// Ends the command when the test fails half-way.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn q_ends_the_full_screen_and_gives_the_terminal_back() {
    let mut terminal = Terminal::open();
    let end = || terminal.slave.try_clone().expect("another handle");
    let mut command = kubewright(&["dev"]);
    super::flow::of_this_package(&mut command);
    command
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../operators/mydaemonset"))
        .env("TERM", "xterm-256color")
        .stdin(end())
        .stdout(end())
        .stderr(end());
    let mut dev = Ends(command.spawn().expect("the command starts"));
    terminal.shows(ENTER);
    // The first picture comes whole; later ones are only what differs from it.
    terminal.shows("samples");
    terminal.shows("q quits");
    assert!(!terminal.is_as_a_shell_wants_it());
    terminal.master.write_all(b"q").expect("a key");
    terminal.shows(LEAVE);
    let status = dev.0.wait().expect("it ends");
    assert!(status.success(), "{status}");
    assert!(terminal.is_as_a_shell_wants_it());
}
