use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc as std_mpsc;
use std::time::Duration;

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tracing::Level;
use tracing_subscriber::fmt::MakeWriter;

use super::LogFormat;
use super::json::json_line;

/// How many lines may wait to be written.
const ROOM: usize = 4096;
/// How long the lines that wait at the end may take.
const LAST_LINES: Duration = Duration::from_secs(2);

/// Takes log lines and never waits: a thread of its own writes them. Where the reader of the log
/// is slower than the program, lines are dropped, counted, and their number is written in their
/// place.
#[derive(Clone, Debug)]
pub(in crate::operator) struct LogWriter {
    format: LogFormat,
    lines: Sender<Vec<u8>>,
    /// All lines that were dropped.
    dropped: Arc<AtomicU64>,
    /// Those of them that the log does not tell of yet.
    untold: Arc<AtomicU64>,
}

/// Ends the writing of the log: what waits is written first, unless nobody reads it.
#[derive(Debug)]
pub(in crate::operator) struct LogEnd {
    closing: Arc<AtomicBool>,
    lines: Sender<Vec<u8>>,
    /// Ends with the thread.
    written: std_mpsc::Receiver<()>,
}

impl LogWriter {
    /// A log that is written to `out`, and what ends it.
    pub(in crate::operator) fn new(
        format: LogFormat,
        out: impl Write + Send + 'static,
    ) -> io::Result<(Self, LogEnd)> {
        // One that takes memory as lines come.
        let (lines, waiting) = channel(ROOM);
        let (writing, written) = std_mpsc::sync_channel(0);
        let mut log = Log {
            format,
            waiting,
            untold: Arc::default(),
            closing: Arc::default(),
        };
        let (untold, closing) = (Arc::clone(&log.untold), Arc::clone(&log.closing));
        std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || {
                log.write_to(out);
                drop::<std_mpsc::SyncSender<()>>(writing);
            })?;
        let end = LogEnd {
            closing,
            lines: lines.clone(),
            written,
        };
        let writer = Self {
            format,
            lines,
            dropped: Arc::default(),
            untold,
        };
        Ok((writer, end))
    }

    /// How many lines were dropped so far.
    pub(in crate::operator) fn dropped(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.dropped)
    }
}

/// What the thread has.
struct Log {
    format: LogFormat,
    waiting: Receiver<Vec<u8>>,
    untold: Arc<AtomicU64>,
    /// Writers may be held by a subscriber that lives for ever: their end is not waited for.
    closing: Arc<AtomicBool>,
}

impl Log {
    fn next(&mut self) -> Option<Vec<u8>> {
        match self.closing.load(Ordering::Acquire) {
            true => self.waiting.try_recv().ok(),
            false => self.waiting.blocking_recv(),
        }
    }

    /// Nobody is left to tell when the log cannot be written.
    fn write_to(&mut self, mut out: impl Write) {
        while let Some(line) = self.next() {
            out.write_all(&line).unwrap_or_default();
        }
        let last = note(self.format, self.untold.swap(0, Ordering::Relaxed));
        out.write_all(&last).unwrap_or_default();
        out.flush().unwrap_or_default();
    }
}

/// The line that stands in the place of those that were dropped.
fn note(format: LogFormat, dropped: u64) -> Vec<u8> {
    let text = format!("{dropped} lines of the log were dropped");
    match (dropped, format) {
        (0, _) => Vec::new(),
        (_, LogFormat::Text) => format!("{text}\n").into_bytes(),
        (_, LogFormat::Json) => json_line(Level::WARN, module_path!(), &text),
    }
}

impl Write for LogWriter {
    /// One call is one line, as the subscriber writes it.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let untold = self.untold.swap(0, Ordering::Relaxed);
        let mut text = note(self.format, untold);
        text.extend_from_slice(line);
        if let Err(TrySendError::Full(_)) = self.lines.try_send(text) {
            self.untold.fetch_add(untold + 1, Ordering::Relaxed);
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for LogWriter {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Drop for LogEnd {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        // Wakes a thread that waits for a line; one that has no room for it is awake.
        self.lines.try_send(Vec::new()).unwrap_or_default();
        // Nothing is ever sent: it fails when the thread has ended, or time is up.
        self.written.recv_timeout(LAST_LINES).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use parking_lot::Mutex;

    use super::super::LogFormat;
    use super::{LogWriter, ROOM};

    /// A reader who says when the first line comes, and reads nothing until it is let.
    struct Slow {
        text: Arc<Mutex<String>>,
        gate: Option<(Sender<()>, Receiver<()>)>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if let Some((came, go)) = self.gate.take() {
                came.send(()).unwrap();
                go.recv().unwrap_or_default();
            }
            self.text.lock().push_str(&String::from_utf8_lossy(bytes));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_log_that_nobody_reads_holds_nobody_up_and_says_what_is_missing() {
        let text = Arc::<Mutex<String>>::default();
        let (go, waits) = channel();
        let (says, came) = channel();
        let slow = Slow {
            text: Arc::clone(&text),
            gate: Some((says, waits)),
        };
        let (mut writer, end) = LogWriter::new(LogFormat::Text, slow).unwrap();
        writer.write_all(b"line 0\n").unwrap();
        came.recv().unwrap();
        let total = 2 * ROOM;
        for number in 1..total {
            let line = format!("line {number}\n");
            writer.write_all(line.as_bytes()).unwrap();
        }
        let dropped = usize::try_from(writer.dropped().load(Ordering::Relaxed)).unwrap();
        assert_eq!(dropped, ROOM - 1);
        go.send(()).unwrap();
        drop(end);
        let text = text.lock();
        assert!(text.starts_with("line 0\n"));
        assert!(text.ends_with(&format!("{dropped} lines of the log were dropped\n")));
        assert_eq!(text.lines().count(), total - dropped + 1);
    }
}
