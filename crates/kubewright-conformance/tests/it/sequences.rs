//! Random sequences of requests on two clusters.

use std::io::Write as _;

use kubewright_conformance::{
    Case, Masks, Response, SeededFault, Settings, Target, WebhookStub, compare, definition, play,
    sequence, shrink,
};
use kubewright_testing::Cluster;

/// How many requests a sequence has.
const LENGTH: usize = 25;
/// How many cases are played to shrink a sequence.
const MAX_TRIES: usize = 60;

/// A reference cluster and the cluster that is compared with it.
struct Pair {
    reference: Target,
    other: Target,
    stub: WebhookStub,
}

impl Pair {
    async fn new(reference: Target, other: Target) -> Self {
        let stub = WebhookStub::start().await.expect("a webhook");
        for target in [&reference, &other] {
            let created = play(&definition(), target, &stub).await;
            created.expect("the definition is created");
        }
        Self {
            reference,
            other,
            stub,
        }
    }

    async fn responses(&self, case: &Case, target: &Target) -> Result<Vec<Response>, String> {
        let played = play(case, target, &self.stub).await;
        let mut responses = played.map_err(|error| error.to_string())?;
        Masks::default().apply(&mut responses);
        Ok(responses)
    }

    /// The differences, or the errors that prevent a comparison.
    async fn differences(&self, case: &Case) -> Vec<String> {
        let reference = self.responses(case, &self.reference).await;
        let other = self.responses(case, &self.other).await;
        match (reference, other) {
            (Ok(reference), Ok(other)) => {
                let found = compare(&reference, &other);
                found.iter().map(ToString::to_string).collect()
            }
            (reference, other) => {
                let errors = [reference.err(), other.err()];
                errors.into_iter().flatten().collect()
            }
        }
    }

    /// A report with the differences and a shrunk sequence.
    async fn report(&self, case: &Case, differences: &[String]) -> String {
        let shrunk = shrink(case, MAX_TRIES, async |case: &Case| {
            !self.differences(case).await.is_empty()
        });
        let shrunk = shrunk.await;
        format!(
            "{}:\n  {}\nshrunk after {} tries:\n{}",
            case.about,
            differences.join("\n  "),
            shrunk.tries,
            shrunk.case
        )
    }

    async fn close(self) {
        self.other.close().await.expect("the cluster ends");
        self.reference
            .close()
            .await
            .expect("the cluster is cleaned");
    }
}

async fn embedded() -> Cluster {
    let started = Cluster::embedded().without_controllers().start().await;
    started.expect("an embedded cluster")
}

/// `KUBEWRIGHT_TEST_SEQUENCES` sets the number of sequences, `KUBEWRIGHT_TEST_SEED` the first seed.
#[tokio::test(flavor = "multi_thread")]
async fn random_sequences_have_equal_responses() {
    let settings = Settings::from_environment().expect("the settings");
    let builder = Cluster::real().named("sequences");
    let Some(real) = builder.start_or_skip().await.expect("a real cluster") else {
        return;
    };
    let pair = Pair::new(Target::new(real), Target::new(embedded().await)).await;
    let seeds = settings.seed..settings.seed.saturating_add(settings.sequences);
    let line = format!("random sequences: seeds {seeds:?}, {LENGTH} requests each");
    writeln!(std::io::stderr(), "{line}").expect("stderr is open");
    let mut failed = Vec::new();
    for seed in seeds {
        let case = sequence(seed, LENGTH);
        let differences = pair.differences(&case).await;
        if differences.is_empty() {
            continue;
        }
        // Only the first one is shrunk; the others probably have the same cause.
        failed.push(if failed.is_empty() {
            pair.report(&case, &differences).await
        } else {
            format!("{}: {} differences", case.about, differences.len())
        });
    }
    pair.close().await;
    assert!(
        failed.is_empty(),
        "{} of the sequences\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// The masks cover everything that differs between two equal servers.
#[tokio::test(start_paused = true)]
async fn two_embedded_clusters_have_equal_responses() {
    let pair = Pair::new(Target::new(embedded().await), Target::new(embedded().await)).await;
    for seed in 1..=5 {
        let differences = pair.differences(&sequence(seed, LENGTH)).await;
        assert_eq!(differences, Vec::<String>::new(), "seed {seed}");
    }
    pair.close().await;
}

/// Each of these faults changes a response of some sequence.
#[tokio::test(start_paused = true)]
async fn sequences_notice_seeded_faults() {
    for fault in [
        SeededFault::NoOpCreatesRevision,
        SeededFault::ApplyKeepsRemoved,
        SeededFault::UidIsIgnored,
        SeededFault::DeletionIsModifiedFirst,
    ] {
        let faulty = Target::with_fault(embedded().await, fault);
        let pair = Pair::new(Target::new(embedded().await), faulty).await;
        let mut noticed = None;
        for seed in 1..=40 {
            if !pair.differences(&sequence(seed, LENGTH)).await.is_empty() {
                noticed = Some(seed);
                break;
            }
        }
        pair.close().await;
        assert!(noticed.is_some(), "{fault:?}");
    }
}
