use std::io::Write as _;
use std::path::Path;

use kubewright_apiserver::SeededFault;
use kubewright_testing::Cluster;
use kubewright_testing::differential::{
    Answer, Case, MaskCount, Masks, WebhookStub, compare, play,
};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cases");
const FIDELITY: &str = include_str!("../../../../docs/fidelity.md");

/// The rows of the fidelity table: name and state.
fn rows() -> Vec<(&'static str, &'static str)> {
    let cells = |line: &'static str| {
        let mut cells = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
        Some((cells.next()?, cells.last()?))
    };
    FIDELITY.lines().filter_map(cells).collect()
}

#[test]
fn a_row_is_called_the_same_only_when_no_case_about_it_differs() {
    for case in Case::read_all(Path::new(CASES)).expect("the cases read") {
        let row = rows().into_iter().find(|(name, _)| *name == case.row);
        let (_, state) = row.unwrap_or_else(|| panic!("{}: no row {}", case.name, case.row));
        let fits = state == "same" && case.differs.is_none() || state == "partly";
        assert!(fits, "{}: row {} is called {state}", case.name, case.row);
    }
}

/// What is the same has been compared, and waits for no run.
#[test]
fn a_row_is_called_the_same_only_when_a_case_is_about_it() {
    let cases = Case::read_all(Path::new(CASES)).expect("the cases read");
    for (row, _) in rows().into_iter().filter(|(_, state)| *state == "same") {
        assert!(cases.iter().any(|case| case.row == row), "no case: {row}");
    }
    assert!(!FIDELITY.contains("no run has"), "a row waits for a run");
}

/// The beginnings of the names of cases that are to be played alone, separated by commas:
/// `KUBEWRIGHT_TEST_CASES=webhook-,scale-`.
const CHOSEN: &str = "KUBEWRIGHT_TEST_CASES";

fn chosen_cases() -> Vec<Case> {
    let mut cases = Case::read_all(Path::new(CASES)).expect("the cases read");
    if let Some(chosen) = std::env::var_os(CHOSEN) {
        let chosen = chosen.to_string_lossy().into_owned();
        cases.retain(|case| chosen.split(',').any(|one| case.name.starts_with(one)));
    }
    cases
}

/// Every case on both clusters; the real one is right.
#[tokio::test(flavor = "multi_thread")]
async fn differential() {
    let cases = chosen_cases();
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
    let (mut masked, mut failed, mut errors, mut known) = (MaskCount::default(), Vec::new(), 0, 0);
    for case in &cases {
        let mut right = match play(case, &real, &stub).await {
            Ok(right) => right,
            Err(error) => {
                failed.push(format!("{} on the real cluster: {error}", case.name));
                continue;
            }
        };
        let mut ours = match play(case, &embedded, &stub).await {
            Ok(ours) => ours,
            Err(error) => {
                failed.push(format!("{} (row {}): {error}", case.name, case.row));
                continue;
            }
        };
        masked.merge(&Masks::default().apply(&mut right));
        masked.merge(&Masks::default().apply(&mut ours));
        errors += usize::from(right.iter().any(|answer| answer.status >= 400));
        let differences: Vec<_> = compare(&right, &ours)
            .iter()
            .map(ToString::to_string)
            .collect();
        match (&case.differs, differences.is_empty()) {
            (None, true) => {}
            (Some(_), false) => known += 1,
            (Some(_), true) => failed.push(format!("{}: the same now; drop `differs`", case.name)),
            (None, false) => {
                let text = differences.join("\n  ");
                failed.push(format!("{} (row {}):\n  {text}", case.name, case.row));
            }
        }
    }
    embedded.close().await.expect("the embedded cluster ends");
    real.close().await.expect("the real cluster is cleaned");
    let line = format!(
        "differential: {} cases, {errors} with errors, {known} known to differ; masked {masked}",
        cases.len()
    );
    writeln!(std::io::stderr(), "{line}").expect("somebody reads");
    let is_all = std::env::var_os(CHOSEN).is_none();
    assert!(
        !is_all || cases.len() >= 20 && errors >= 6,
        "too few: {line}"
    );
    assert!(
        failed.is_empty(),
        "{} cases\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// The cases that answer at once and in which the embedded cluster is what Kubernetes is: what
/// differs from its answers differs from Kubernetes'.
fn settled_cases() -> Vec<Case> {
    let cases = Case::read_all(Path::new(CASES)).expect("the cases read");
    // A webhook behind a socket answers in real time, and time is virtual here.
    let is_settled = |case: &Case| {
        let waits = case.steps.iter().any(|step| !step.awaits.is_empty());
        let asks = !case.webhooks.is_empty() || case.row == "C9" || case.row == "A9";
        case.differs.is_none() && !asks && !waits
    };
    cases.into_iter().filter(is_settled).collect()
}

async fn masked(case: &Case, cluster: &Cluster, stub: &WebhookStub) -> Result<Vec<Answer>, String> {
    let mut answers = play(case, cluster, stub)
        .await
        .map_err(|error| error.to_string())?;
    Masks::default().apply(&mut answers);
    Ok(answers)
}

/// Would the suite notice? Each fault is planted in a server of its own, and at least one case
/// must answer otherwise than it should.
#[tokio::test(start_paused = true)]
async fn seeded_faults_are_caught() {
    let cases = settled_cases();
    let stub = WebhookStub::start().await.expect("a webhook");
    let sound = Cluster::embedded().start().await.expect("a cluster");
    let mut right = Vec::new();
    for case in &cases {
        right.push(masked(case, &sound, &stub).await.expect("a sound cluster"));
    }
    sound.close().await.expect("the cluster ends");
    let mut missed = Vec::new();
    for fault in SeededFault::ALL {
        let builder = Cluster::embedded().seeded(fault);
        let cluster = builder.start().await.expect("a cluster");
        let mut caught = None;
        for (case, right) in cases.iter().zip(&right) {
            let is_right = match masked(case, &cluster, &stub).await {
                Ok(answers) => compare(right, &answers).is_empty(),
                Err(_) => false,
            };
            if !is_right {
                caught = Some(&case.name);
                break;
            }
        }
        cluster.close().await.expect("the cluster ends");
        match caught {
            Some(case) => {
                writeln!(std::io::stderr(), "{fault:?}: caught by {case}").expect("somebody reads");
            }
            None => missed.push(fault),
        }
    }
    let all = SeededFault::ALL.len();
    let line = format!("{} of {all} seeded faults caught", all - missed.len());
    writeln!(std::io::stderr(), "{line}").expect("somebody reads");
    assert!(missed.is_empty(), "{line}: not {missed:?}");
}
