//! Installs the log subscriber.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::json_layer::JsonLines;
use super::{LogArguments, LogFormat, LogWriter};

/// Installs a subscriber with the filter and format of the arguments.
pub(in crate::operator) fn start_log(arguments: &LogArguments, writer: LogWriter) {
    let filter = arguments.filter();
    let (targets, ignored) = targets(&filter);
    let (text, json) = match arguments.format() {
        LogFormat::Text => {
            let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            let lines = tracing_subscriber::fmt::layer()
                .with_ansi(io::stderr().is_terminal() && !no_color)
                .with_writer(writer);
            (Some(lines), None)
        }
        LogFormat::Json => (None, Some(JsonLines::new(writer, arguments.time()))),
    };
    let subscriber = tracing_subscriber::registry()
        .with(targets)
        .with(text)
        .with(json);
    // This fails if the program has installed a subscriber before, which then stays.
    subscriber.try_init().ok();
    for part in ignored {
        tracing::warn!(
            part,
            "invalid log filter: use a level such as info, or target=level"
        );
    }
}

/// Returns the targets of a filter and its invalid parts, which do not prevent the start of an
/// operator.
fn targets(filter: &str) -> (Targets, Vec<&str>) {
    let parts = filter.split(',').map(str::trim);
    let (valid, ignored): (Vec<_>, Vec<_>) = parts
        .filter(|part| !part.is_empty())
        .partition(|part| part.parse::<Targets>().is_ok());
    let default = Targets::new().with_default(LevelFilter::INFO);
    if valid.is_empty() {
        return (default, ignored);
    }
    (valid.join(",").parse().unwrap_or(default), ignored)
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::targets;

    #[test]
    fn filter_has_levels_and_targets() {
        let (filter, ignored) = targets("info, kubewright=debug");
        assert!(filter.would_enable("kube", &Level::INFO));
        assert!(!filter.would_enable("kube", &Level::DEBUG));
        assert!(filter.would_enable("kubewright::operator", &Level::DEBUG));
        assert!(ignored.is_empty(), "{ignored:?}");
    }

    #[test]
    fn invalid_parts_of_a_filter_are_returned_and_the_rest_applies() {
        let (filter, ignored) = targets("kube=loud,warn");
        assert!(filter.would_enable("kube", &Level::WARN));
        assert!(!filter.would_enable("kube", &Level::INFO));
        assert_eq!(ignored, ["kube=loud"]);
        let (filter, _) = targets("");
        assert!(filter.would_enable("kube", &Level::INFO));
        assert!(!filter.would_enable("kube", &Level::DEBUG));
    }
}
