use clap::{ArgAction, Args, ValueEnum};

use super::time::TimeForm;

/// What is logged, and in which form: `--log` and `--log-format`, and the flags that
/// controller-runtime's managers have for it, so that their Deployments start ours.
#[derive(Args, Debug)]
pub(in crate::operator) struct LogArguments {
    /// What to log, such as `info` or `info,kubewright=debug` [default: info]
    #[arg(long, env = "RUST_LOG", value_name = "FILTER")]
    log: Option<String>,
    /// How to write it: a line of text, or of JSON, for each event [default: text]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// A level: debug, info, error, panic, or a number that is more the more is logged
    #[arg(long, hide = true, value_name = "LEVEL")]
    zap_log_level: Option<String>,
    /// As log-format, where `console` is text
    #[arg(long, hide = true, value_name = "FORMAT")]
    zap_encoder: Option<LogFormat>,
    /// Text with debug lines, or JSON without
    #[arg(long, hide = true, action = ArgAction::Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_name = "BOOL")]
    zap_devel: Option<bool>,
    /// Understood and not heeded: errors here say what was tried, not where in the source
    #[arg(long, hide = true, value_name = "LEVEL")]
    zap_stacktrace_level: Option<String>,
    /// How JSON says the time
    #[arg(long, hide = true, value_name = "FORM")]
    zap_time_encoding: Option<TimeForm>,
}

/// The form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::operator) enum LogFormat {
    /// For people.
    #[value(alias = "console")]
    Text,
    /// For programs.
    Json,
}

impl LogArguments {
    /// What the lines look like. Ours go before zap's, and the exact before the general.
    pub(in crate::operator) fn format(&self) -> LogFormat {
        let by_mode = match self.zap_devel {
            Some(false) => LogFormat::Json,
            Some(true) | None => LogFormat::Text,
        };
        self.log_format.or(self.zap_encoder).unwrap_or(by_mode)
    }

    /// How they say the time.
    pub(super) fn time(&self) -> TimeForm {
        self.zap_time_encoding.unwrap_or_default()
    }

    /// Which of them are written.
    pub(super) fn filter(&self) -> String {
        let by_mode = match self.zap_devel {
            Some(true) => "debug",
            Some(false) | None => "info",
        };
        let by_level = self.zap_log_level.as_deref().map(filter_of_level);
        // The environment may set the first for all programs of a Pod: what was typed wins.
        by_level
            .or_else(|| self.log.clone())
            .unwrap_or_else(|| by_mode.to_owned())
    }
}

/// zap counts the other way round: 1 is `V(1)`, which is debug.
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
    fn the_flags_of_zap_mean_what_they_mean_to_zap() {
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
        let unheeded = ["--zap-stacktrace-level=panic", "--zap-time-encoding=nano"];
        assert_eq!(parse(&unheeded), text("info"));
    }

    #[test]
    fn the_flags_of_ours_go_first() {
        let json = (LogFormat::Json, "warn".to_owned());
        let all = ["--log=warn", "--log-format=json", "--zap-encoder=console"];
        assert_eq!(parse(&all), json);
    }
}
