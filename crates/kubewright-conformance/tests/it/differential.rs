//! The cases on both clusters, and what the suite detects.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use kubewright_conformance::{
    Case, MaskCount, Masks, Response, SeededFault, Settings, Target, WebhookStub, compare, play,
};
use kubewright_testing::Cluster;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cases");
const FIDELITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fidelity.md");

/// The cells of a line of the fidelity table: row, subject, state, cases, cases with errors.
fn cells(line: &str) -> Option<[&str; 5]> {
    let cells: Vec<&str> = line
        .strip_prefix("| ")?
        .strip_suffix(" |")?
        .split(" | ")
        .collect();
    let cells: [&str; 5] = cells.try_into().ok()?;
    Some(cells).filter(|[row, ..]| *row != "row")
}

fn fidelity() -> String {
    std::fs::read_to_string(FIDELITY).expect("the fidelity table reads")
}

/// The rows of the fidelity table: name and state.
fn rows() -> Vec<(String, String)> {
    let table = fidelity();
    let cells = table.lines().filter_map(cells);
    cells
        .map(|[row, _, state, ..]| (row.to_owned(), state.to_owned()))
        .collect()
}

#[test]
fn row_is_same_only_if_none_of_its_cases_differs() {
    let rows = rows();
    for case in Case::read_all(Path::new(CASES)).expect("the cases read") {
        let row = rows.iter().find(|(name, _)| *name == case.row);
        let (_, state) = row.unwrap_or_else(|| panic!("{}: no row {}", case.name, case.row));
        let fits = state == "same" && case.differs.is_none() || state == "partly";
        assert!(
            fits,
            "{}: the state of row {} is {state}",
            case.name, case.row
        );
    }
}

#[test]
fn row_is_same_only_if_it_has_a_case() {
    let cases = Case::read_all(Path::new(CASES)).expect("the cases read");
    for (row, _) in rows().into_iter().filter(|(_, state)| state == "same") {
        assert!(cases.iter().any(|case| case.row == row), "no case: {row}");
    }
    assert!(!fidelity().contains("no run has"), "a row waits for a run");
}

/// The result of the cases compared so far.
#[derive(Default)]
struct Tally {
    masked: MaskCount,
    failed: Vec<String>,
    /// How many cases each row has, and how many of them have an error response of the real cluster.
    rows: BTreeMap<String, (usize, usize)>,
    errors: usize,
    known: usize,
}

impl Tally {
    /// Compares the responses to a case; those of the real cluster are the reference.
    fn add(&mut self, case: &Case, mut real: Vec<Response>, mut embedded: Vec<Response>) {
        self.masked.merge(&Masks::default().apply(&mut real));
        self.masked.merge(&Masks::default().apply(&mut embedded));
        let has_error = usize::from(real.iter().any(|response| response.status >= 400));
        self.errors += has_error;
        let row = self.rows.entry(case.row.clone()).or_default();
        *row = (row.0 + 1, row.1 + has_error);
        let differences: Vec<_> = compare(&real, &embedded)
            .iter()
            .map(ToString::to_string)
            .collect();
        if case.differs.is_some() {
            if differences.is_empty() {
                let line = format!("{}: equal now; remove `differs`", case.name);
                self.failed.push(line);
            } else {
                self.known += 1;
            }
        } else if !differences.is_empty() {
            let text = differences.join("\n  ");
            let line = format!("{} (row {}):\n  {text}", case.name, case.row);
            self.failed.push(line);
        }
    }

    /// The fidelity table with the counts of this run.
    fn counted(&self) -> String {
        let line = |line: &str| match cells(line) {
            Some([row, what, state, ..]) => {
                let (cases, errors) = self.rows.get(row).copied().unwrap_or_default();
                format!("| {row} | {what} | {state} | {cases} | {errors} |\n")
            }
            None => format!("{line}\n"),
        };
        fidelity().lines().map(line).collect()
    }

    /// Checks the counts in the fidelity table; `UPDATE_EXPECT=1` writes them.
    fn check_table(&mut self) {
        let counted = self.counted();
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(FIDELITY, counted).expect("the table is written");
        } else if counted != fidelity() {
            let line = "docs/fidelity.md has other counts; UPDATE_EXPECT=1 updates it";
            self.failed.push(line.to_owned());
        }
    }

    /// Every row that is not `absent` needs three cases, one of them with an error response.
    fn check_rows(&mut self) {
        for (row, state) in rows() {
            let (cases, errors) = self.rows.get(&row).copied().unwrap_or_default();
            let is_shown = cases >= 3 && errors >= 1;
            if !is_shown && state != "absent" {
                let line = format!("row {row}: only {cases} cases, {errors} with errors");
                self.failed.push(line);
            }
        }
    }
}

/// Plays every case on both clusters; the real one is the reference.
#[tokio::test(flavor = "multi_thread")]
async fn differential() {
    let mut cases = Case::read_all(Path::new(CASES)).expect("the cases read");
    let settings = Settings::from_environment().expect("settings");
    cases.retain(|case| settings.selects(case));
    let stub = WebhookStub::start().await.expect("a webhook");
    let builder = Cluster::real().controllers().named("differential");
    let builder = builder.authorization_webhook(stub.authorizer());
    let Some(real) = builder.start_or_skip().await.expect("a real cluster") else {
        return;
    };
    let embedded = Cluster::embedded()
        .authorization_webhook(stub.authorizer())
        .start()
        .await
        .expect("an embedded cluster");
    let (real, embedded) = (Target::new(real), Target::new(embedded));
    let mut tally = Tally::default();
    for case in &cases {
        let expected = play(case, &real, &stub).await;
        let actual = play(case, &embedded, &stub).await;
        let mut fail = |line: String| tally.failed.push(line);
        match (expected, actual) {
            (Ok(expected), Ok(actual)) => tally.add(case, expected, actual),
            (Err(error), _) => fail(format!("{} on the real cluster: {error}", case.name)),
            (Ok(_), Err(error)) => fail(format!("{} (row {}): {error}", case.name, case.row)),
        }
    }
    embedded.close().await.expect("the embedded cluster ends");
    real.close().await.expect("the real cluster is cleaned");
    let steps = || cases.iter().flat_map(|case| &case.steps);
    let line = format!(
        "differential: {} cases, {} with errors, {} known to differ; masked {}; {} of {} responses \
         compared in part",
        cases.len(),
        tally.errors,
        tally.known,
        tally.masked,
        steps().filter(|step| !step.only.is_empty()).count(),
        steps().filter(|step| !step.aside).count(),
    );
    writeln!(std::io::stderr(), "{line}").expect("stderr is open");
    if settings.cases.is_empty() {
        tally.check_rows();
        tally.check_table();
        assert!(cases.len() >= 250, "too few: {line}");
        assert!(tally.known * 20 <= cases.len(), "too many gaps: {line}");
    }
    let failed = tally.failed;
    let text = failed.join("\n");
    assert!(failed.is_empty(), "{} failed\n{text}", failed.len());
}

/// The cases without waits in which the embedded cluster equals Kubernetes: a response that differs
/// from that of the embedded cluster also differs from that of Kubernetes.
fn settled_cases() -> Vec<Case> {
    let cases = Case::read_all(Path::new(CASES)).expect("the cases read");
    // A webhook behind a socket responds in real time, and time is virtual here.
    let is_settled = |case: &Case| {
        let waits = case.steps.iter().any(|step| !step.awaits.is_empty());
        let calls_webhooks = !case.webhooks.is_empty() || case.row == "C9" || case.row == "A9";
        case.differs.is_none() && !calls_webhooks && !waits
    };
    cases.into_iter().filter(is_settled).collect()
}

async fn masked(case: &Case, target: &Target, stub: &WebhookStub) -> Result<Vec<Response>, String> {
    let mut responses = play(case, target, stub)
        .await
        .map_err(|error| error.to_string())?;
    Masks::default().apply(&mut responses);
    Ok(responses)
}

/// Each fault is injected in front of its own cluster, and must change a response of at least one
/// case.
#[tokio::test(start_paused = true)]
async fn seeded_faults_are_caught() {
    let cases = settled_cases();
    let stub = WebhookStub::start().await.expect("a webhook");
    let sound = Target::new(Cluster::embedded().start().await.expect("a cluster"));
    let mut expected = Vec::new();
    for case in &cases {
        expected.push(masked(case, &sound, &stub).await.expect("a sound cluster"));
    }
    sound.close().await.expect("the cluster ends");
    let mut missed = Vec::new();
    for fault in SeededFault::ALL {
        let cluster = Cluster::embedded().start().await.expect("a cluster");
        let target = Target::with_fault(cluster, fault);
        let mut caught = None;
        for (case, expected) in cases.iter().zip(&expected) {
            let is_equal = match masked(case, &target, &stub).await {
                Ok(responses) => compare(expected, &responses).is_empty(),
                Err(_) => false,
            };
            if !is_equal {
                caught = Some(&case.name);
                break;
            }
        }
        target.close().await.expect("the cluster ends");
        match caught {
            Some(case) => {
                writeln!(std::io::stderr(), "{fault:?}: caught by {case}").expect("stderr is open");
            }
            None => missed.push(fault),
        }
    }
    let all = SeededFault::ALL.len();
    let line = format!("{} of {all} seeded faults caught", all - missed.len());
    writeln!(std::io::stderr(), "{line}").expect("stderr is open");
    assert!(missed.is_empty(), "{line}: not {missed:?}");
}
