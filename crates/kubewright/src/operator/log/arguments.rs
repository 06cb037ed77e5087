//! The flags of the log.

use clap::{ArgAction, Args, ValueEnum};

use super::time::TimeFormat;

/// The filter and format of the log: `--log` and `--log-format`, and the flags of
/// controller-runtime's managers, so that their Deployments can run an operator.
#[derive(Args, Debug)]
pub(in crate::operator) struct LogArguments {
    /// The filter of the log, such as `info` or `info,kubewright=debug` [default: info]
    #[arg(long, env = "RUST_LOG", value_name = "FILTER")]
    log: Option<String>,
    /// The format of each line: text or JSON [default: text]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// A level: debug, info, error, panic, or a verbosity number
    #[arg(long, hide = true, value_name = "LEVEL")]
    zap_log_level: Option<String>,
    /// Like log-format; `console` is text
    #[arg(long, hide = true, value_name = "FORMAT")]
    zap_encoder: Option<LogFormat>,
    /// Text with debug lines, or JSON without them
    #[arg(long, hide = true, action = ArgAction::Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_name = "BOOL")]
    zap_devel: Option<bool>,
    /// Accepted and ignored: errors name the failed action, not a place in the source
    #[arg(long, hide = true, value_name = "LEVEL")]
    zap_stacktrace_level: Option<String>,
    /// The format of times in JSON
    #[arg(long, hide = true, value_name = "FORMAT")]
    zap_time_encoding: Option<TimeFormat>,
}

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::operator) enum LogFormat {
    /// For humans.
    #[value(alias = "console")]
    Text,
    /// For programs.
    Json,
}

impl LogArguments {
    /// Returns the format. `--log-format` overrides the flags of zap, and `--zap-encoder` overrides
    /// `--zap-devel`.
    pub(in crate::operator) fn format(&self) -> LogFormat {
        let by_mode = match self.zap_devel {
            Some(false) => LogFormat::Json,
            Some(true) | None => LogFormat::Text,
        };
        self.log_format.or(self.zap_encoder).unwrap_or(by_mode)
    }

    /// Returns the format of times.
    pub(super) fn time(&self) -> TimeFormat {
        self.zap_time_encoding.unwrap_or_default()
    }

    /// Returns the filter.
    pub(super) fn filter(&self) -> String {
        let by_mode = match self.zap_devel {
            Some(true) => "debug",
            Some(false) | None => "info",
        };
        let by_level = self.zap_log_level.as_deref().map(filter_of_level);
        // `--log` can come from the environment of the Pod, so the flag of zap overrides it.
        by_level
            .or_else(|| self.log.clone())
            .unwrap_or_else(|| by_mode.to_owned())
    }
}

/// Returns the filter for a level of zap, where a higher number is more verbose: 1 is `V(1)`,
/// debug.
fn filter_of_level(level: &str) -> String {
    match (level, level.parse::<u32>()) {
        (_, Ok(0)) => "info".to_owned(),
        (_, Ok(1)) => "debug".to_owned(),
        (_, Ok(_)) => "trace".to_owned(),
        ("panic", _) => "error".to_owned(),
        (named, _) => named.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{LogArguments, LogFormat};

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        log: LogArguments,
    }

    fn parse(arguments: &[&str]) -> (LogFormat, String) {
        let all = ["operator"].iter().chain(arguments);
        let log = Program::try_parse_from(all).unwrap().log;
        (log.format(), log.filter())
    }

    #[test]
    fn flags_of_zap_set_format_and_level() {
        let text = |filter: &str| (LogFormat::Text, filter.to_owned());
        let json = |filter: &str| (LogFormat::Json, filter.to_owned());
        assert_eq!(parse(&["--zap-encoder=json"]), json("info"));
        assert_eq!(parse(&["--zap-encoder=console"]), text("info"));
        assert_eq!(parse(&["--zap-devel"]), text("debug"));
        assert_eq!(parse(&["--zap-devel=false"]), json("info"));
        let both = ["--zap-devel=false", "--zap-encoder=console"];
        assert_eq!(parse(&both), text("info"));
        assert_eq!(parse(&["--zap-log-level=error"]), text("error"));
        assert_eq!(parse(&["--zap-log-level=1"]), text("debug"));
        assert_eq!(parse(&["--zap-log-level=5"]), text("trace"));
        assert_eq!(parse(&["--zap-log-level=panic"]), text("error"));
        let ignored = ["--zap-stacktrace-level=panic", "--zap-time-encoding=nano"];
        assert_eq!(parse(&ignored), text("info"));
    }

    #[test]
    fn own_flags_override_those_of_zap() {
        let json = (LogFormat::Json, "warn".to_owned());
        let all = ["--log=warn", "--log-format=json", "--zap-encoder=console"];
        assert_eq!(parse(&all), json);
    }
}
