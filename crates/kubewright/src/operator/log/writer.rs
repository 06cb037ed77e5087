//! A log writer that does not block: a thread writes the lines.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc as std_mpsc;
use std::time::Duration;

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tracing::Level;
use tracing_subscriber::fmt::MakeWriter;

use super::arguments::LogFormat;
use super::json_line::json_line;

/// The maximum number of buffered lines.
const CAPACITY: usize = 4096;
/// The timeout for writing the buffered lines at the end.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Accepts log lines without blocking; a thread writes them. If the reader of the log is slower
/// than the program, lines are dropped, and their number is written in their place.
#[derive(Clone, Debug)]
pub(in crate::operator) struct LogWriter {
    format: LogFormat,
    lines: Sender<Vec<u8>>,
    /// The number of dropped lines.
    dropped: Arc<AtomicU64>,
    /// The number of dropped lines that the log does not mention yet.
    unreported: Arc<AtomicU64>,
}

/// Writes the buffered lines when it is dropped, unless the log is not read.
#[derive(Debug)]
pub(in crate::operator) struct LogGuard {
    closing: Arc<AtomicBool>,
    lines: Sender<Vec<u8>>,
    /// Disconnected when the thread ends.
    thread_end: std_mpsc::Receiver<()>,
}

impl LogWriter {
    /// Starts a log that is written to `out`, and returns the guard that ends it.
    pub(in crate::operator) fn new(
        format: LogFormat,
        out: impl Write + Send + 'static,
    ) -> io::Result<(Self, LogGuard)> {
        // tokio's channel allocates memory only as lines come.
        let (lines, buffer) = channel(CAPACITY);
        let (thread_alive, thread_end) = std_mpsc::sync_channel(0);
        let mut log = LogThread {
            format,
            buffer,
            unreported: Arc::default(),
            closing: Arc::default(),
        };
        let (unreported, closing) = (Arc::clone(&log.unreported), Arc::clone(&log.closing));
        std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || {
                log.write_to(out);
                drop::<std_mpsc::SyncSender<()>>(thread_alive);
            })?;
        let guard = LogGuard {
            closing,
            lines: lines.clone(),
            thread_end,
        };
        let writer = Self {
            format,
            lines,
            dropped: Arc::default(),
            unreported,
        };
        Ok((writer, guard))
    }

    /// Returns the counter of dropped lines.
    pub(in crate::operator) fn dropped(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.dropped)
    }
}

/// The state of the thread.
struct LogThread {
    format: LogFormat,
    buffer: Receiver<Vec<u8>>,
    unreported: Arc<AtomicU64>,
    /// Set to end the thread: writers can be held by a subscriber that is never dropped.
    closing: Arc<AtomicBool>,
}

impl LogThread {
    fn next(&mut self) -> Option<Vec<u8>> {
        if self.closing.load(Ordering::Acquire) {
            self.buffer.try_recv().ok()
        } else {
            self.buffer.blocking_recv()
        }
    }

    /// Writes lines until the log is closed. If a write fails, there is no way to report that.
    fn write_to(&mut self, mut out: impl Write) {
        while let Some(line) = self.next() {
            out.write_all(&line).ok();
        }
        let last = report(self.format, self.unreported.swap(0, Ordering::Relaxed));
        out.write_all(&last).ok();
        out.flush().ok();
    }
}

/// Returns the line in place of dropped ones, or nothing if none was dropped.
fn report(format: LogFormat, dropped: u64) -> Vec<u8> {
    let text = format!("{dropped} lines of the log were dropped");
    match format {
        _ if dropped == 0 => Vec::new(),
        LogFormat::Text => format!("{text}\n").into_bytes(),
        LogFormat::Json => json_line(Level::WARN, module_path!(), &text),
    }
}

impl Write for LogWriter {
    /// Writes a line: the subscriber calls this once per line.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let unreported = self.unreported.swap(0, Ordering::Relaxed);
        let mut text = report(self.format, unreported);
        text.extend_from_slice(line);
        if let Err(TrySendError::Full(_)) = self.lines.try_send(text) {
            self.unreported.fetch_add(unreported + 1, Ordering::Relaxed);
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

impl Drop for LogGuard {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        // Wakes a thread that waits for a line. If the buffer is full, the thread is awake.
        self.lines.try_send(Vec::new()).ok();
        // Nothing is ever sent: this returns when the thread has ended or after the timeout.
        self.thread_end.recv_timeout(FLUSH_TIMEOUT).ok();
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
    use super::{CAPACITY, LogWriter};

    /// A reader that blocks at the first line until it is released.
    struct SlowReader {
        text: Arc<Mutex<String>>,
        gate: Option<Gate>,
    }

    struct Gate {
        reached: Sender<()>,
        released: Receiver<()>,
    }

    impl Write for SlowReader {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if let Some(gate) = self.gate.take() {
                gate.reached.send(()).unwrap();
                gate.released.recv().ok();
            }
            self.text.lock().push_str(&String::from_utf8_lossy(bytes));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn log_that_is_not_read_drops_lines_and_reports_their_number() {
        let text = Arc::<Mutex<String>>::default();
        let (release, released) = channel();
        let (reached, has_reached) = channel();
        let reader = SlowReader {
            text: Arc::clone(&text),
            gate: Some(Gate { reached, released }),
        };
        let (mut writer, guard) = LogWriter::new(LogFormat::Text, reader).unwrap();
        writer.write_all(b"line 0\n").unwrap();
        has_reached.recv().unwrap();
        let total = 2 * CAPACITY;
        for number in 1..total {
            let line = format!("line {number}\n");
            writer.write_all(line.as_bytes()).unwrap();
        }
        let dropped = usize::try_from(writer.dropped().load(Ordering::Relaxed)).unwrap();
        assert_eq!(dropped, CAPACITY - 1);
        release.send(()).unwrap();
        drop(guard);
        let text = text.lock();
        assert!(text.starts_with("line 0\n"));
        assert!(text.ends_with(&format!("{dropped} lines of the log were dropped\n")));
        assert_eq!(text.lines().count(), total - dropped + 1);
    }
}
