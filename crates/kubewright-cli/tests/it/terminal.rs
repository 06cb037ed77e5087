//! The command on a terminal.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::kubewright;

const ROWS: u16 = 40;
const COLUMNS: u16 = 100;
const ENTER: &str = "\u{1b}[?1049h";
/// A build comes first, perhaps on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);
const LEAVE: &str = "\u{1b}[?1049l";

/// A terminal that a test sits at.
struct Terminal {
    master: File,
    slave: File,
    /// What a thread reads; it ends with the other end.
    read: Receiver<Vec<u8>>,
    seen: Vec<u8>,
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
            ws_row: ROWS,
            ws_col: COLUMNS,
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
                if told.send(read.to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            master,
            slave,
            read,
            seen: Vec::new(),
        }
    }

    /// Reads on until the program has written the text.
    fn shows(&mut self, text: &str) {
        while !String::from_utf8_lossy(&self.seen).contains(text) {
            self.read_on();
        }
    }

    /// Reads on until a picture is as wanted, and returns it.
    fn looks(&mut self, is_wanted: impl Fn(&str) -> bool) -> String {
        loop {
            let picture = self.picture();
            if is_wanted(&picture) {
                return picture;
            }
            self.read_on();
        }
    }

    fn read_on(&mut self) {
        let more = self.read.recv_timeout(PATIENCE);
        let more = more.map_err(|_| self.picture());
        self.seen.extend(more.expect("the program goes on writing"));
    }

    /// What a person sees after all that was written.
    fn picture(&self) -> String {
        let size = |cells: u16| NonZero::new(cells).expect("a size");
        let mut screen = vt100::Parser::new(size(ROWS), size(COLUMNS), 0);
        screen.process(&self.seen);
        screen.screen().contents()
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

/// A command that is typed at the terminal.
fn typed(terminal: &Terminal, mut command: Command) -> Ends {
    let end = || terminal.slave.try_clone().expect("another handle");
    super::flow::of_this_package(&mut command);
    command
        .env("TERM", "xterm-256color")
        .env_remove("RUST_LOG")
        .stdin(end())
        .stdout(end())
        .stderr(end());
    Ends(command.spawn().expect("the command starts"))
}

#[test]
fn the_full_screen_shows_what_happens_and_q_gives_the_terminal_back() {
    let mut terminal = Terminal::open();
    let mut command = kubewright(&["dev"]);
    command.arg(super::ship::operator("mydaemonset"));
    let mut dev = typed(&terminal, command);
    terminal.shows(ENTER);
    let picture = terminal.looks(has_settled);
    assert!(!terminal.is_as_a_shell_wants_it());
    held_against("dev.txt", &masked(&picture));
    terminal.master.write_all(b"q").expect("a key");
    terminal.shows(LEAVE);
    let status = dev.0.wait().expect("it ends");
    assert!(status.success(), "{status}");
    assert!(terminal.is_as_a_shell_wants_it());
}

#[test]
fn what_is_missing_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let init = kubewright(&["init", "--name", "demo"])
        .current_dir(folder.path())
        .output();
    assert!(init.expect("the command runs").status.success());
    let mut terminal = Terminal::open();
    let mut command = kubewright(&["create", "api", "--version", "v1"]);
    command.current_dir(folder.path());
    let mut create = typed(&terminal, command);
    for (question, answer) in [("group: ", "web\n"), ("kind: ", "Site\n")] {
        terminal.shows(question);
        terminal.master.write_all(answer.as_bytes()).expect("keys");
    }
    let status = create.0.wait().expect("it ends");
    assert!(status.success(), "{status}");
    let made = std::fs::read_to_string(folder.path().join("src/site.rs")).expect("the kind");
    assert!(made.contains("kind = \"Site\""), "{made}");
}

#[test]
fn no_color_keeps_colours_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let shown = |value: &str| {
        let mut terminal = Terminal::open();
        let mut command = kubewright(&["cluster", "--log", "trace", "--kubeconfig"]);
        command.arg(folder.path().join(format!("kubeconfig{value}")));
        command.env("NO_COLOR", value);
        let _served = typed(&terminal, command);
        terminal.shows("TRACE");
        String::from_utf8_lossy(&terminal.seen).contains("\u{1b}[")
    };
    assert!(shown(""), "a terminal has colours");
    assert!(!shown("1"), "NO_COLOR keeps them out");
}

/// The sample is ready, its Pods run, and the reconcile that found it so has been told.
fn has_settled(picture: &str) -> bool {
    let has = |words: &[&str]| {
        let lines = picture.lines();
        let lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines.filter(|line| line.ends_with(words)).count()
    };
    let is_ready = has(&["default/sample", "ready"]) == 1 && has(&["Running", "true"]) == 3;
    let is_told = ["Available=True", "Scheduled Pod", "SuccessfulCreate"];
    is_ready && has(&["done"]) > 0 && is_told.iter().all(|part| picture.contains(part))
}

/// The picture without what differs from run to run: names, paths, times, the order of events, how
/// often a thing happened, and the log.
fn masked(picture: &str) -> String {
    let replaced = [
        (r"/\S+/admin\.yaml", "FILE"),
        (r"\b[0-9.]+(ns|µs|ms|s)\b", "TIME"),
        (r"(\bsample-)[a-z0-9-]+", "${1}NAME"),
        (r"\bnode-[0-9]", "NODE"),
        (r"  +", "  "),
    ];
    let mut text = picture.to_owned();
    for (pattern, name) in replaced {
        let pattern = regex::Regex::new(pattern).expect("a pattern");
        text = pattern.replace_all(&text, name).into_owned();
    }
    let mut sections: Vec<Vec<&str>> = vec![Vec::new()];
    for line in text.lines().map(str::trim_end) {
        if line.contains("───") || line.starts_with("q quits") {
            sections.push(Vec::new());
        }
        sections.last_mut().expect("the first one").push(line);
    }
    for section in &mut sections {
        let (title, lines) = section.split_first_mut().expect("a title");
        match title.trim_end_matches('─') {
            "events" => lines.sort_unstable(),
            "log" => section.truncate(1),
            _ => {}
        }
        section.dedup();
    }
    sections.concat().join("\n") + "\n"
}

fn held_against(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/terminal")
        .join(file);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("the file");
    }
    let expected = std::fs::read_to_string(&path).expect("the file");
    assert_eq!(text, expected, "UPDATE_EXPECT=1 writes the file anew");
}
