//! What a program of ours logs: which lines, in which form, written without ever waiting.

mod arguments;
mod json;
mod start;
mod time;
mod writer;

pub(super) use arguments::{LogArguments, LogFormat};
pub(super) use json::json_line;
pub(super) use start::start_log;
pub(super) use writer::LogWriter;
