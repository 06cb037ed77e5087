//! Runs the benchmark `webhook`.

use std::collections::BTreeMap;

use bytes::Bytes;
use kubewright_bench_subject::percentile;
use kubewright_testing::Settings;

use super::load::{Load, connections};
use super::process::{Identity, ServingProcess};
use crate::bound::Bound;
use crate::command::WebhookOptions;
use crate::error::Error;
use crate::inject::{fixture, patched_checksum};
use crate::process::{processor_time, resident_mb};
use crate::program::{Builder, Built};
use crate::readings::{CHECKSUM, Readings};
use crate::rounds::{Rounds, alternate};

const NAME: &str = "webhook";
const PROMISED: [Bound; 3] = [
    Bound::ratio("cpu_us", 0.5),
    Bound::ratio("p50_us", 0.7),
    Bound::ratio("settled_mb", 0.5),
];

/// Builds the subjects, runs them alternately under load and prints the medians.
///
/// # Cancel safety
///
/// Dropping the future ends the running subject.
pub(crate) async fn run(options: &WebhookOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let rounds = &options.rounds;
    let built = rounds.build(&Builder::new(NAME, &settings)).await?;
    let identity = Identity::new()?;
    let review = std::fs::read(fixture("review.json")).map_err(|source| Error::System {
        operation: "read the review".to_owned(),
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
        for subject in alternate(round, &built) {
            measured.note(round, measure(subject, &identity, &load).await?);
        }
    }
    measured.report()
}

async fn measure(built: &Built, identity: &Identity, load: &Load) -> Result<Readings, Error> {
    let failed = |reason| Error::Webhook {
        subject: built.subject,
        reason,
    };
    let serving = ServingProcess::start(built, identity).await?;
    let review: &Bytes = &load.review;
    let cold = connections(&identity.connector, serving.port, review)
        .await
        .map_err(failed)?;
    // Caches, buffers and the garbage collector reach their sizes before the measurement starts.
    let warm_up = Load {
        count: load.count.min(2 * load.per_second),
        ..load.clone()
    };
    let (warm, _) = warm_up.run(cold).await.map_err(failed)?;
    let processes = serving.processes();
    let before = processor_time(&processes);
    let (mut connections, latencies) = load.run(warm).await.map_err(failed)?;
    let used = processor_time(&processes).saturating_sub(before);
    let settled = resident_mb(&processes);
    let connection = connections
        .first_mut()
        .ok_or_else(|| failed("no connection is open".to_owned()))?;
    let response = connection.send(review.clone()).await.map_err(failed)?;
    let checksum = patched_checksum(review, &response).map_err(failed)?;
    let values = [
        ("cpu_us", used.as_secs_f64() * 1e6 / f64::from(load.count)),
        ("p50_us", percentile(&latencies, 50).unwrap_or_default()),
        ("p99_us", percentile(&latencies, 99).unwrap_or_default()),
        ("settled_mb", settled),
        (CHECKSUM, checksum),
    ];
    let values: BTreeMap<String, f64> = values
        .map(|(metric, value)| (metric.to_owned(), value))
        .into();
    Ok(Readings {
        subject: built.subject,
        values,
    })
}
