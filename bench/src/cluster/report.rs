use kubewright_bench_subject::median;
use serde_json::json;

use super::measure::Figures;
use super::subject::Server;
use crate::error::Error;
use crate::reading::{Bound, hold_figures};
use crate::table::{align, three_digits};

/// What the embedded server promises, alone and beside the real one.
pub(super) const PROMISED: [Bound; 5] = [
    Bound::value("ready_ms", 50.0),
    Bound::value("idle_mb", 30.0),
    Bound::at_least("creates_per_s", 5.0),
    Bound::ratio("list_ms", 1.0),
    Bound::ratio("fanout_ms", 1.0),
];

/// What stands in a column; some servers have nothing there.
type Column = fn(&Figures) -> Option<f64>;

/// The columns of the table.
const COLUMNS: [(&str, Column); 7] = [
    ("ready_ms", |one| Some(one.ready_ms)),
    ("first_request_ms", |one| one.first_request_ms),
    ("idle_mb", |one| Some(one.idle_mb)),
    ("creates_per_s", |one| Some(one.creates_per_s)),
    ("cpu_us", |one| Some(one.cpu_us)),
    ("list_ms", |one| Some(one.list_ms)),
    ("fanout_ms", |one| Some(one.fanout_ms)),
];

/// The figures of each server, in the order of its runs.
pub(super) type Runs = Vec<(Server, Vec<Figures>)>;

fn figure(runs: &[Figures], column: Column) -> Option<f64> {
    let values: Vec<f64> = runs.iter().filter_map(column).collect();
    median(&values)
}

/// One row a server, each median beside its ratio to the real one.
pub(super) fn render(runs: &Runs) -> String {
    let header = std::iter::once("subject").chain(COLUMNS.map(|(name, _)| name));
    let mut rows = vec![header.map(str::to_owned).collect::<Vec<_>>()];
    let base = runs
        .iter()
        .find(|(server, _)| *server == Server::Kubernetes);
    for (server, own) in runs {
        let base = base.filter(|(other, _)| other != server);
        let mut row = vec![server.to_string()];
        row.extend(COLUMNS.map(|(_, column)| {
            let base = base.and_then(|(_, base)| figure(base, column));
            match (figure(own, column), base) {
                (Some(own), Some(base)) if base > 0.0 => {
                    format!("{} ({}x)", three_digits(own), three_digits(own / base))
                }
                (Some(own), _) => three_digits(own),
                (None, _) => "-".to_owned(),
            }
        }));
        rows.push(row);
    }
    align(&rows)
}

/// Whether the medians are within what is promised.
pub(super) fn hold(runs: &Runs) -> Result<(), Error> {
    let figure = |wanted: Server, metric: &str| {
        let (_, column) = COLUMNS.into_iter().find(|(name, _)| *name == metric)?;
        let (_, own) = runs.iter().find(|(server, _)| *server == wanted)?;
        figure(own, column)
    };
    hold_figures(&PROMISED, |bound| {
        (
            figure(Server::Kubewright, bound.metric),
            figure(Server::Kubernetes, bound.metric),
        )
    })
}

/// One line of JSON a measurement.
pub(super) fn json_lines(runs: &Runs) -> String {
    let lines = runs.iter().flat_map(|(server, own)| {
        COLUMNS.into_iter().filter_map(move |(metric, column)| {
            let value = figure(own, column)?;
            let line = json!({
                "benchmark": "cluster", "subject": server.to_string(),
                "metric": metric, "value": value,
            });
            Some(format!("{line}\n"))
        })
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::{Figures, Server, hold, json_lines, render};

    #[test]
    fn each_promise_is_held_or_named() {
        let real = Figures {
            ready_ms: 3000.0,
            idle_mb: 300.0,
            creates_per_s: 100.0,
            list_ms: 50.0,
            fanout_ms: 2.0,
            ..Figures::default()
        };
        let kept = Figures {
            ready_ms: 50.0,
            idle_mb: 30.0,
            creates_per_s: 500.0,
            list_ms: 50.0,
            fanout_ms: 2.0,
            ..Figures::default()
        };
        let held = |ours: Figures| {
            let runs = vec![
                (Server::Kubernetes, vec![real.clone()]),
                (Server::Kubewright, vec![ours]),
            ];
            hold(&runs).map_err(|error| error.to_string())
        };
        assert_eq!(held(kept.clone()), Ok(()));
        let slow = Figures {
            ready_ms: 51.0,
            ..kept.clone()
        };
        assert_eq!(
            held(slow),
            Err("hold ready_ms at most 50: it is 51.000".to_owned())
        );
        let slow = Figures {
            creates_per_s: 499.0,
            ..kept.clone()
        };
        assert_eq!(
            held(slow),
            Err("hold creates_per_s at least 5x: it is 4.990".to_owned())
        );
        let slow = Figures {
            fanout_ms: 3.0,
            ..kept
        };
        assert_eq!(
            held(slow),
            Err("hold fanout_ms at most 1x: it is 1.500".to_owned())
        );
    }

    #[test]
    fn each_server_has_a_row_with_its_ratio_to_the_real_one() {
        let figures = |creates_per_s| Figures {
            creates_per_s,
            ..Figures::default()
        };
        let runs = vec![
            (Server::Kubernetes, vec![figures(100.0)]),
            (
                Server::Kubewright,
                vec![figures(900.0), figures(1000.0), figures(1100.0)],
            ),
        ];
        let table = render(&runs);
        assert!(table.contains("1000 (10.0x)"), "{table}");
        let lines = json_lines(&runs);
        let wanted = r#"{"benchmark":"cluster","metric":"creates_per_s","subject":"kubewright","value":1000.0}"#;
        assert!(lines.contains(wanted), "{lines}");
    }
}
