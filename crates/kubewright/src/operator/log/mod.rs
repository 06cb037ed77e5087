//! The log of an operator's program: filter, format, and a writer that does not block.

mod arguments;
mod json_layer;
mod json_line;
mod start;
mod time;
mod writer;

pub(super) use arguments::{LogArguments, LogFormat};
pub(super) use json_line::json_line;
pub(super) use start::start_log;
pub(super) use writer::LogWriter;
