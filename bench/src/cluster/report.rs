//! The results of the benchmark `cluster`.

use kubewright_bench_subject::median;
use serde_json::json;

use super::measure::Figures;
use super::running_server::Implementation;
use crate::bound::Bound;
use crate::error::Error;
use crate::promises;
use crate::table::{align, with_ratio};

/// The promised bounds of the embedded server.
pub(super) const PROMISED: [Bound; 5] = [
    Bound::value("ready_ms", 50.0),
    Bound::value("idle_mb", 30.0),
    Bound::at_least("creates_per_s", 5.0),
    Bound::ratio("list_ms", 1.0),
    Bound::ratio("fanout_ms", 1.0),
];

/// Returns the value of a column; `None` if it is not measured for a server.
type Column = fn(&Figures) -> Option<f64>;

/// The columns of the table.
const COLUMNS: [(&str, Column); 7] = [
    ("ready_ms", |figures| Some(figures.ready_ms)),
    ("first_request_ms", |figures| figures.first_request_ms),
    ("idle_mb", |figures| Some(figures.idle_mb)),
    ("creates_per_s", |figures| Some(figures.creates_per_s)),
    ("cpu_us", |figures| Some(figures.cpu_us)),
    ("list_ms", |figures| Some(figures.list_ms)),
    ("fanout_ms", |figures| Some(figures.fanout_ms)),
];

/// The figures of the runs of a server.
#[derive(Clone, Debug)]
pub(super) struct ServerRuns {
    pub(super) server: Implementation,
    pub(super) figures: Vec<Figures>,
}

impl ServerRuns {
    fn median(&self, column: Column) -> Option<f64> {
        let values: Vec<f64> = self.figures.iter().filter_map(column).collect();
        median(&values)
    }
}

fn runs_of(servers: &[ServerRuns], server: Implementation) -> Option<&ServerRuns> {
    servers.iter().find(|runs| runs.server == server)
}

/// Formats a table: a row per server, each median with its ratio to the real server.
pub(super) fn render(servers: &[ServerRuns]) -> String {
    let header = std::iter::once("subject").chain(COLUMNS.map(|(name, _)| name));
    let mut rows = vec![header.map(str::to_owned).collect::<Vec<_>>()];
    let baseline = runs_of(servers, Implementation::Kubernetes);
    for runs in servers {
        let baseline = baseline.filter(|baseline| baseline.server != runs.server);
        let mut row = vec![runs.server.to_string()];
        row.extend(COLUMNS.map(|(_, column)| {
            let base = baseline.and_then(|baseline| baseline.median(column));
            with_ratio(runs.median(column), base)
        }));
        rows.push(row);
    }
    align(&rows)
}

/// Checks the medians against the promised bounds.
pub(super) fn check(servers: &[ServerRuns]) -> Result<(), Error> {
    let figure = |server: Implementation, metric: &str| {
        let (_, column) = COLUMNS.into_iter().find(|(name, _)| *name == metric)?;
        runs_of(servers, server)?.median(column)
    };
    promises::check_figures(&PROMISED, |bound| promises::Figures {
        own: figure(Implementation::Kubewright, bound.metric),
        baseline: figure(Implementation::Kubernetes, bound.metric),
    })
}

/// Formats the medians as lines of JSON.
pub(super) fn json_lines(servers: &[ServerRuns]) -> String {
    let lines = servers.iter().flat_map(|runs| {
        COLUMNS.into_iter().filter_map(move |(metric, column)| {
            let value = runs.median(column)?;
            let line = json!({
                "benchmark": "cluster", "subject": runs.server.to_string(),
                "metric": metric, "value": value,
            });
            Some(format!("{line}\n"))
        })
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::{Figures, Implementation, ServerRuns, check, json_lines, render};

    fn runs(server: Implementation, figures: Vec<Figures>) -> ServerRuns {
        ServerRuns { server, figures }
    }

    #[test]
    fn error_names_the_bound_that_is_not_met() {
        let real = Figures {
            ready_ms: 3000.0,
            idle_mb: 300.0,
            creates_per_s: 100.0,
            list_ms: 50.0,
            fanout_ms: 2.0,
            ..Figures::default()
        };
        let ours = Figures {
            ready_ms: 50.0,
            idle_mb: 30.0,
            creates_per_s: 500.0,
            list_ms: 50.0,
            fanout_ms: 2.0,
            ..Figures::default()
        };
        let checked = |ours: Figures| {
            let servers = [
                runs(Implementation::Kubernetes, vec![real.clone()]),
                runs(Implementation::Kubewright, vec![ours]),
            ];
            check(&servers).map_err(|error| error.to_string())
        };
        assert_eq!(checked(ours.clone()), Ok(()));
        let slow = Figures {
            ready_ms: 51.0,
            ..ours.clone()
        };
        assert_eq!(
            checked(slow),
            Err("check ready_ms at most 50: measured 51.000".to_owned())
        );
        let slow = Figures {
            creates_per_s: 499.0,
            ..ours.clone()
        };
        assert_eq!(
            checked(slow),
            Err("check creates_per_s at least 5x: measured 4.990".to_owned())
        );
        let slow = Figures {
            fanout_ms: 3.0,
            ..ours
        };
        assert_eq!(
            checked(slow),
            Err("check fanout_ms at most 1x: measured 1.500".to_owned())
        );
    }

    #[test]
    fn each_server_has_a_row_with_ratios_to_the_real_one() {
        let figures = |creates_per_s| Figures {
            creates_per_s,
            ..Figures::default()
        };
        let servers = [
            runs(Implementation::Kubernetes, vec![figures(100.0)]),
            runs(
                Implementation::Kubewright,
                vec![figures(900.0), figures(1000.0), figures(1100.0)],
            ),
        ];
        let table = render(&servers);
        assert!(table.contains("1000 (10.0x)"), "{table}");
        let lines = json_lines(&servers);
        let expected = r#"{"benchmark":"cluster","metric":"creates_per_s","subject":"kubewright","value":1000.0}"#;
        assert!(lines.contains(expected), "{lines}");
    }
}
