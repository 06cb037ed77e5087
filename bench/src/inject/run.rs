use std::path::{Path, PathBuf};

use kubewright_testing::Settings;

use super::patched_checksum;
use crate::command::InjectOptions;
use crate::error::Error;
use crate::reading::{Bound, CHECKSUM, measure};
use crate::rounds::{Rounds, in_turn};
use crate::subject::Builder;

const NAME: &str = "inject";
const PROMISED: [Bound; 1] = [Bound::ratio("inject_us", 0.4)];

/// The file of that name that subjects of `inject` and `webhook` share.
pub(crate) fn material(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("webhook")
        .join(name)
}

/// Builds the subjects, lets them answer in turn, prints the medians.
///
/// # Cancel safety
///
/// Dropping the future ends the subject under way.
pub(crate) async fn run(options: &InjectOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let rounds = &options.rounds;
    // The same programs serve the benchmark `webhook`.
    let built = rounds.build(&Builder::new("webhook", &settings)).await?;
    let reviews = rounds.size(options.reviews, 50);
    let folder = tempfile::tempdir().map_err(|source| Error::System {
        tried: "make a folder for the answers".to_owned(),
        source,
    })?;
    let review = material("review.json");
    let title = format!("{reviews} reviews of a 6 KB Pod, five passes");
    let mut measured = Rounds::new(NAME, title, rounds, &PROMISED);
    for round in 1..=rounds.runs() {
        for subject in in_turn(round, &built) {
            let answer = folder.path().join(subject.subject.to_string());
            let arguments = [
                format!("--sidecars={}", material("sidecars.json").display()),
                format!("--review={}", review.display()),
                format!("--answer={}", answer.display()),
                format!("--reviews={reviews}"),
            ];
            let mut readings = measure(subject, &arguments).await?;
            let sum = patched_checksum(&read(&review)?, &read(&answer)?);
            let sum = sum.map_err(|why| Error::Webhook {
                subject: subject.subject,
                why,
            })?;
            readings.values.insert(CHECKSUM.to_owned(), sum);
            measured.note(round, readings);
        }
    }
    measured.report()
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|source| Error::System {
        tried: format!("read {}", path.display()),
        source,
    })
}
