use std::io::Write as _;

use kubewright_apiserver::SeededFault;
use kubewright_testing::differential::{
    Answer, Case, Masks, WebhookStub, compare, definition, play, sequence, shrink,
};
use kubewright_testing::{Cluster, Settings};

/// How many requests a sequence has.
const LENGTH: usize = 25;
/// How often parts of a sequence are played to find what matters of it.
const TRIES: usize = 60;

/// Two clusters of which one is right.
struct Pair {
    right: Cluster,
    other: Cluster,
    stub: WebhookStub,
}

impl Pair {
    async fn new(right: Cluster, other: Cluster) -> Self {
        let stub = WebhookStub::start().await.expect("a webhook");
        for cluster in [&right, &other] {
            let made = play(&definition(), cluster, &stub).await;
            made.expect("the definition is made");
        }
        Self { right, other, stub }
    }

    async fn answers(&self, case: &Case, cluster: &Cluster) -> Result<Vec<Answer>, String> {
        let played = play(case, cluster, &self.stub).await;
        let mut answers = played.map_err(|error| error.to_string())?;
        Masks::default().apply(&mut answers);
        Ok(answers)
    }

    /// What differs, or why that cannot be told.
    async fn differences(&self, case: &Case) -> Vec<String> {
        let right = self.answers(case, &self.right).await;
        let other = self.answers(case, &self.other).await;
        match (right, other) {
            (Ok(right), Ok(other)) => {
                let found = compare(&right, &other);
                found.iter().map(ToString::to_string).collect()
            }
            (right, other) => {
                let errors = [right.err(), other.err()];
                errors.into_iter().flatten().collect()
            }
        }
    }

    /// What differs, and the shortest sequence that shows it.
    async fn explained(&self, case: &Case, differences: &[String]) -> String {
        let shrunk = shrink(case, TRIES, async |case: &Case| {
            !self.differences(case).await.is_empty()
        });
        let shrunk = shrunk.await;
        format!(
            "{}:\n  {}\nafter {} tries this is left:\n{}",
            case.about,
            differences.join("\n  "),
            shrunk.tried,
            shrunk.case
        )
    }

    async fn close(self) {
        self.other.close().await.expect("the cluster ends");
        self.right.close().await.expect("the cluster is cleaned");
    }
}

/// Whatever two writers do, both servers answer alike. `KUBEWRIGHT_TEST_SEQUENCES` makes more of
/// it, `KUBEWRIGHT_TEST_SEED` begins elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn random_sequences_are_answered_alike() {
    let settings = Settings::from_environment().expect("the settings");
    let builder = Cluster::real().named("sequences");
    let Some(real) = builder.start_or_skip().await.expect("a real cluster") else {
        return;
    };
    let embedded = Cluster::embedded().still().start().await;
    let pair = Pair::new(real, embedded.expect("an embedded cluster")).await;
    let seeds = settings.seed..settings.seed.saturating_add(settings.sequences);
    let line = format!("random sequences: seeds {seeds:?}, {LENGTH} requests each");
    writeln!(std::io::stderr(), "{line}").expect("somebody reads");
    let mut failed = Vec::new();
    for seed in seeds {
        let case = sequence(seed, LENGTH);
        let differences = pair.differences(&case).await;
        if differences.is_empty() {
            continue;
        }
        // One is explained; the others are likely to be about the same.
        let told = match failed.is_empty() {
            true => pair.explained(&case, &differences).await,
            false => format!("{}: {} differences", case.about, differences.len()),
        };
        failed.push(told);
    }
    pair.close().await;
    assert!(
        failed.is_empty(),
        "{} of the sequences\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// Two servers that are alike answer alike: nothing is compared that chance decides.
#[tokio::test(start_paused = true)]
async fn a_sequence_is_answered_the_same_way_twice() {
    let start = async || {
        Cluster::embedded()
            .still()
            .start()
            .await
            .expect("a cluster")
    };
    let pair = Pair::new(start().await, start().await).await;
    for seed in 1..=5 {
        let differences = pair.differences(&sequence(seed, LENGTH)).await;
        assert_eq!(differences, Vec::<String>::new(), "seed {seed}");
    }
    pair.close().await;
}

/// Would random sequences notice? Each of these faults changes an answer of some sequence.
#[tokio::test(start_paused = true)]
async fn sequences_notice_seeded_faults() {
    for fault in [
        SeededFault::NoOpMakesRevision,
        SeededFault::ApplyKeepsDropped,
        SeededFault::UidIsIgnored,
        SeededFault::LastFinalizerIsModified,
    ] {
        let sound = Cluster::embedded().still().start().await;
        let faulty = Cluster::embedded().still().seeded(fault).start().await;
        let pair = Pair::new(sound.expect("a cluster"), faulty.expect("a cluster")).await;
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
