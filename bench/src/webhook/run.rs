use std::collections::BTreeMap;

use bytes::Bytes;
use kubewright_bench_subject::percentile;
use kubewright_testing::Settings;

use super::load::{Load, connections};
use super::process::{Identity, Serving};
use crate::command::WebhookOptions;
use crate::error::Error;
use crate::inject::{material, patched_checksum};
use crate::process::{processor_time, resident_mb};
use crate::reading::{Bound, CHECKSUM, Readings};
use crate::rounds::{Rounds, in_turn};
use crate::subject::{Builder, Built};

const NAME: &str = "webhook";
const PROMISED: [Bound; 3] = [
    Bound::ratio("cpu_us", 0.5),
    Bound::ratio("p50_us", 0.7),
    Bound::ratio("settled_mb", 0.5),
];

/// Builds the subjects, loads them in turn, prints the medians.
///
/// # Cancel safety
///
/// Dropping the future ends the subject under way.
pub(crate) async fn run(options: &WebhookOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let rounds = &options.rounds;
    let built = rounds.build(&Builder::new(NAME, &settings)).await?;
    let identity = Identity::new()?;
    let review = std::fs::read(material("review.json")).map_err(|source| Error::System {
        tried: "read the review".to_owned(),
        source,
    })?;
    let load = Load {
        review: review.into(),
        per_second: options.rate,
        count: rounds.size(options.rate * options.seconds, 100),
    };
    let title = format!("{} reviews at {}/s", load.count, load.per_second);
    let mut measured = Rounds::new(NAME, title, rounds, &PROMISED);
    for round in 1..=rounds.runs() {
        for subject in in_turn(round, &built) {
            measured.note(round, measure(subject, &identity, &load).await?);
        }
    }
    measured.report()
}

async fn measure(built: &Built, identity: &Identity, load: &Load) -> Result<Readings, Error> {
    let failed = |why| Error::Webhook {
        subject: built.subject,
        why,
    };
    let serving = Serving::start(built, identity).await?;
    let review: &Bytes = &load.review;
    let connections = connections(&identity.connector, serving.port, review).await;
    let mut connections = connections.map_err(failed)?;
    // Caches, buffers and the collector have found their size before the clock starts.
    let warm_up = Load {
        count: load.count.min(2 * load.per_second),
        ..load.clone()
    };
    (connections, _) = warm_up.run(connections).await.map_err(failed)?;
    let processes = serving.processes();
    let before = processor_time(&processes);
    let (mut connections, times) = load.run(connections).await.map_err(failed)?;
    let used = processor_time(&processes).saturating_sub(before);
    let settled = resident_mb(&processes);
    let connection = connections.first_mut().ok_or("no connection is left");
    let connection = connection.map_err(|why| failed(why.to_owned()))?;
    let answer = connection.ask(review.clone()).await.map_err(failed)?;
    let sum = patched_checksum(review, &answer).map_err(failed)?;
    let values = [
        ("cpu_us", used.as_secs_f64() * 1e6 / f64::from(load.count)),
        ("p50_us", percentile(&times, 50).unwrap_or_default()),
        ("p99_us", percentile(&times, 99).unwrap_or_default()),
        ("settled_mb", settled),
        (CHECKSUM, sum),
    ];
    let values: BTreeMap<String, f64> = values
        .map(|(metric, value)| (metric.to_owned(), value))
        .into();
    Ok(Readings {
        subject: built.subject,
        values,
    })
}
