use std::io::{self, IsTerminal as _};

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::json::JsonLines;
use super::{LogArguments, LogFormat, LogWriter};

/// Has everything that is logged from now on written, as the arguments say.
pub(in crate::operator) fn start_log(arguments: &LogArguments, writer: LogWriter) {
    let filter = arguments.filter();
    let (filter, ignored) = targets(&filter);
    let (text, json) = match arguments.format() {
        LogFormat::Text => {
            let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            let lines = tracing_subscriber::fmt::layer()
                .with_ansi(io::stderr().is_terminal() && !unwanted)
                .with_writer(writer);
            (Some(lines), None)
        }
        LogFormat::Json => (None, Some(JsonLines::new(writer, arguments.time()))),
    };
    let subscriber = tracing_subscriber::registry()
        .with(filter)
        .with(text)
        .with(json);
    // Somebody who has set one up before `main` keeps it.
    subscriber.try_init().unwrap_or_default();
    for part in ignored {
        tracing::warn!(
            part,
            "not a log filter: name a level such as info, or target=level"
        );
    }
}

/// What is to be logged, and the parts of the filter that nobody understands: they are no reason
/// for an operator not to start.
fn targets(filter: &str) -> (Targets, Vec<&str>) {
    let parts = filter.split(',').map(str::trim);
    let (known, ignored): (Vec<_>, Vec<_>) = parts
        .filter(|part| !part.is_empty())
        .partition(|part| part.parse::<Targets>().is_ok());
    let targets = known.join(",").parse();
    let fallback = Targets::new().with_default(LevelFilter::INFO);
    match known.is_empty() {
        true => (fallback, ignored),
        false => (targets.unwrap_or(fallback), ignored),
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::targets;

    #[test]
    fn a_filter_names_levels_and_targets() {
        let (filter, ignored) = targets("info, kubewright=debug");
        assert!(filter.would_enable("kube", &Level::INFO));
        assert!(!filter.would_enable("kube", &Level::DEBUG));
        assert!(filter.would_enable("kubewright::operator", &Level::DEBUG));
        assert!(ignored.is_empty(), "{ignored:?}");
    }

    #[test]
    fn what_is_no_filter_is_told_and_the_rest_is_taken() {
        let (filter, ignored) = targets("kube=loud,warn");
        assert!(filter.would_enable("kube", &Level::WARN));
        assert!(!filter.would_enable("kube", &Level::INFO));
        assert_eq!(ignored, ["kube=loud"]);
        let (filter, _) = targets("");
        assert!(filter.would_enable("kube", &Level::INFO));
        assert!(!filter.would_enable("kube", &Level::DEBUG));
    }
}
