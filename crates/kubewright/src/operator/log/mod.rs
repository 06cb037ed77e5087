//! The log of an operator's program: filter, format, and a writer that does not block.

mod arguments;
mod json;
mod start;
mod time;
mod writer;

pub(super) use arguments::{LogArguments, LogFormat};
pub(super) use json::json_line;
pub(super) use start::start_log;
pub(super) use writer::LogWriter;
