use kubewright_bench_subject::median;
use serde_json::json;

use super::measure::Figures;
use super::subject::Server;
use crate::table::{align, three_digits};

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
    use super::{Figures, Server, json_lines, render};

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
