//! Runs the benchmark `loop`.

use std::path::Path;

use kubewright_bench_subject::median;
use kubewright_testing::Settings;

use super::project::Project;
use crate::bound::Bound;
use crate::command::LoopOptions;
use crate::error::Error;
use crate::output;
use crate::program::Builder;
use crate::readings::Readings;
use crate::rounds::Rounds;
use crate::subject::Subject;

const NAME: &str = "loop";
const PROMISED: [Bound; 3] = [
    Bound::ratio("cold_s", 1.0),
    Bound::ratio("noop_s", 1.0),
    Bound::ratio("binary_mb", 1.0),
];

/// Builds each operator from scratch, then repeatedly without and after a change.
///
/// # Cancel safety
///
/// Dropping the future ends the running compiler.
pub(crate) async fn run(options: &LoopOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let rounds = &options.rounds;
    let builder = Builder::new("mydaemonset", &settings);
    let folder = tempfile::tempdir().map_err(|source| Error::System {
        operation: "create a folder for the builds".to_owned(),
        source,
    })?;
    let title = format!("one build from scratch, {} others", rounds.runs());
    let mut measured = Rounds::new(NAME, title, rounds, &PROMISED);
    for subject in &rounds.subjects {
        let readings = measure(*subject, &builder, folder.path(), rounds.runs()).await?;
        measured.note(1, readings);
    }
    measured.report()
}

async fn measure(
    subject: Subject,
    builder: &Builder,
    folder: &Path,
    runs: u32,
) -> Result<Readings, Error> {
    let project = Project::new(subject, builder, folder)?;
    output::note(&format!("build {subject} from scratch"));
    let cold = project.build().await?;
    let (mut noop, mut edit) = (Vec::new(), Vec::new());
    for run in 1..=runs {
        noop.push(project.build().await?.wall.as_secs_f64());
        project.edit(run)?;
        edit.push(project.build().await?.wall.as_secs_f64());
    }
    let program = builder.operator(subject).await?.program;
    let size = std::fs::metadata(&program).map_err(|source| Error::System {
        operation: format!("read the size of {}", program.display()),
        source,
    })?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "a program is smaller than 2^53 bytes"
    )]
    let binary = size.len() as f64 / 1e6;
    let values = [
        ("cold_s", cold.wall.as_secs_f64()),
        ("cold_cpu_s", cold.processor.as_secs_f64()),
        ("noop_s", median(&noop).unwrap_or_default()),
        ("edit_s", median(&edit).unwrap_or_default()),
        ("binary_mb", binary),
    ];
    Ok(Readings {
        subject,
        values: values.map(|(name, value)| (name.to_owned(), value)).into(),
    })
}
