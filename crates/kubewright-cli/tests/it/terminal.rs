//! The command on a terminal: the full screen of `dev`, prompts and colors.

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
use super::nested_build::{operator, without_package_variables};

const ROWS: u16 = 40;
const COLUMNS: u16 = 100;
/// The escape sequences that enter and leave the full screen.
const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";
/// The time without output, which includes a build on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A pseudo terminal with a command on it.
struct Terminal {
    master: File,
    slave: File,
    /// The output, read by a thread until the other end is closed.
    chunks: Receiver<Vec<u8>>,
    output: Vec<u8>,
}

impl Terminal {
    fn open() -> Self {
        let master: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("it is granted");
        unlockpt(&master).expect("it is unlocked");
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
        let (sender, chunks) = sync_channel(64);
        let mut reader = master.try_clone().expect("another handle");
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let chunk = bytes.get(..count).unwrap_or_default();
                if sender.send(chunk.to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            master,
            slave,
            chunks,
            output: Vec::new(),
        }
    }

    /// Reads until the output contains the text.
    fn wait_for(&mut self, text: &str) {
        while !String::from_utf8_lossy(&self.output).contains(text) {
            self.read();
        }
    }

    /// Reads until the screen matches, and returns it.
    fn wait_for_screen(&mut self, matches: impl Fn(&str) -> bool) -> String {
        loop {
            let screen = self.screen();
            if matches(&screen) {
                return screen;
            }
            self.read();
        }
    }

    fn read(&mut self) {
        let received = self.chunks.recv_timeout(TIMEOUT);
        let chunk = received.map_err(|_| self.screen());
        self.output.extend(chunk.expect("more output in time"));
    }

    /// Returns the text on the screen after all output.
    fn screen(&self) -> String {
        let size = |cells: u16| NonZero::new(cells).expect("a size");
        let mut screen = vt100::Parser::new(size(ROWS), size(COLUMNS), 0);
        screen.process(&self.output);
        screen.screen().contents()
    }

    /// Whether the terminal edits and echoes lines, as a shell needs it.
    fn is_in_line_mode(&self) -> bool {
        let modes = tcgetattr(&self.slave).expect("its settings").local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }
}

/// A process that is killed when a test fails.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Starts a command on the terminal.
fn start(terminal: &Terminal, mut command: Command) -> Process {
    let end = || terminal.slave.try_clone().expect("another handle");
    without_package_variables(&mut command);
    command
        .env("TERM", "xterm-256color")
        .env_remove("RUST_LOG")
        .stdin(end())
        .stdout(end())
        .stderr(end());
    Process(command.spawn().expect("the command starts"))
}

#[test]
fn full_screen_shows_the_operator_and_q_restores_the_terminal() {
    let mut terminal = Terminal::open();
    let mut command = kubewright(&["dev"]);
    command.arg(operator("mydaemonset"));
    let mut dev = start(&terminal, command);
    terminal.wait_for(ENTER);
    let screen = terminal.wait_for_screen(is_settled);
    assert!(!terminal.is_in_line_mode());
    compare_with_file("dev.txt", &masked(&screen));
    terminal.master.write_all(b"q").expect("a key");
    terminal.wait_for(LEAVE);
    let status = dev.0.wait().expect("it exits");
    assert!(status.success(), "{status}");
    assert!(terminal.is_in_line_mode());
}

#[test]
fn create_api_prompts_for_missing_flags() {
    let folder = tempfile::tempdir().expect("a folder");
    let init = kubewright(&["init", "--name", "demo"])
        .current_dir(folder.path())
        .output();
    assert!(init.expect("the command runs").status.success());
    let mut terminal = Terminal::open();
    let mut command = kubewright(&["create", "api", "--version", "v1"]);
    command.current_dir(folder.path());
    let mut create = start(&terminal, command);
    for (prompt, input) in [("group: ", "web\n"), ("kind: ", "Site\n")] {
        terminal.wait_for(prompt);
        terminal.master.write_all(input.as_bytes()).expect("keys");
    }
    let status = create.0.wait().expect("it exits");
    assert!(status.success(), "{status}");
    let source = std::fs::read_to_string(folder.path().join("src/site.rs")).expect("the kind");
    assert!(source.contains("kind = \"Site\""), "{source}");
}

#[test]
fn no_color_turns_colors_off() {
    let folder = tempfile::tempdir().expect("a folder");
    let has_colors = |value: &str| {
        let mut terminal = Terminal::open();
        let mut command = kubewright(&["cluster", "--log", "trace", "--kubeconfig"]);
        command.arg(folder.path().join(format!("kubeconfig{value}")));
        command.env("NO_COLOR", value);
        let _process = start(&terminal, command);
        terminal.wait_for("TRACE");
        String::from_utf8_lossy(&terminal.output).contains("\u{1b}[")
    };
    assert!(has_colors(""), "a terminal has colors");
    assert!(!has_colors("1"), "NO_COLOR turns them off");
}

/// Whether the sample is ready, its Pods run, and the last reconcile is on the screen.
fn is_settled(screen: &str) -> bool {
    let count = |words: &[&str]| {
        let lines = screen
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines.filter(|line| line.ends_with(words)).count()
    };
    let is_ready = count(&["default/sample", "ready"]) == 1 && count(&["Running", "true"]) == 3;
    let parts = ["Available=True", "Scheduled Pod", "SuccessfulCreate"];
    is_ready && count(&["done"]) > 0 && parts.iter().all(|part| screen.contains(part))
}

/// Returns the screen without what differs between runs: names, paths, times, the order of events,
/// repetitions, and the log.
fn masked(screen: &str) -> String {
    let patterns = [
        (r"/\S+/admin\.yaml", "FILE"),
        (r"\b[0-9.]+(ns|µs|ms|s)\b", "TIME"),
        (r"(\bsample-)[a-z0-9-]+", "${1}NAME"),
        (r"\bnode-[0-9]", "NODE"),
        (r"  +", "  "),
    ];
    let mut text = screen.to_owned();
    for (pattern, name) in patterns {
        let regex = regex::Regex::new(pattern).expect("a pattern");
        text = regex.replace_all(&text, name).into_owned();
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

/// Compares the text with a file; `UPDATE_EXPECT=1` writes the file.
fn compare_with_file(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/terminal")
        .join(file);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("the file");
    }
    let expected = std::fs::read_to_string(&path).expect("the file");
    assert_eq!(text, expected, "UPDATE_EXPECT=1 writes the file");
}
