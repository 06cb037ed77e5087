//! Runs the benchmark `inject`.

use std::path::{Path, PathBuf};

use kubewright_testing::Settings;

use super::patched_pod::patched_checksum;
use crate::bound::Bound;
use crate::command::InjectOptions;
use crate::error::Error;
use crate::program::{Builder, measure};
use crate::readings::CHECKSUM;
use crate::rounds::{Rounds, alternate};

const NAME: &str = "inject";
const PROMISED: [Bound; 1] = [Bound::ratio("inject_us", 0.4)];

/// Returns the path of a file that the subjects of `inject` and `webhook` share.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("webhook")
        .join(name)
}

/// Builds the subjects, runs them alternately and prints the medians.
///
/// # Cancel safety
///
/// Dropping the future ends the running subject.
pub(crate) async fn run(options: &InjectOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let rounds = &options.rounds;
    // The benchmark `webhook` has the same programs.
    let built = rounds.build(&Builder::new("webhook", &settings)).await?;
    let reviews = rounds.size(options.reviews, 50);
    let folder = tempfile::tempdir().map_err(|source| Error::System {
        operation: "create a folder for the responses".to_owned(),
        source,
    })?;
    let review = fixture("review.json");
    let title = format!("{reviews} reviews of a 6 KB Pod, five passes");
    let mut measured = Rounds::new(NAME, title, rounds, &PROMISED);
    for round in 1..=rounds.runs() {
        for subject in alternate(round, &built) {
            let response = folder.path().join(subject.subject.to_string());
            let arguments = [
                format!("--sidecars={}", fixture("sidecars.json").display()),
                format!("--review={}", review.display()),
                format!("--response={}", response.display()),
                format!("--reviews={reviews}"),
            ];
            let mut readings = measure(subject, &arguments).await?;
            let checksum =
                patched_checksum(&read(&review)?, &read(&response)?).map_err(|reason| {
                    Error::Webhook {
                        subject: subject.subject,
                        reason,
                    }
                })?;
            readings.values.insert(CHECKSUM.to_owned(), checksum);
            measured.note(round, readings);
        }
    }
    measured.report()
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|source| Error::System {
        operation: format!("read {}", path.display()),
        source,
    })
}
