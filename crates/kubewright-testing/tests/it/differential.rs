use std::io::Write as _;
use std::path::Path;

use kubewright_testing::Cluster;
use kubewright_testing::differential::{Case, MaskCount, Masks, WebhookStub, compare, play};

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

/// Every case on both clusters; the real one is right.
#[tokio::test(flavor = "multi_thread")]
async fn differential() {
    let cases = Case::read_all(Path::new(CASES)).expect("the cases read");
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
    assert!(cases.len() >= 20 && errors >= 6, "too few: {line}");
    assert!(
        failed.is_empty(),
        "{} cases\n{}",
        failed.len(),
        failed.join("\n")
    );
}
