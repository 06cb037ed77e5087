use std::path::{Path, PathBuf};

use clap::Args;
use kubewright_manifest::{
    Chart, Component, OutputFile, helm_chart, kustomization, stale_files, to_yaml,
};

use super::manifest_flags::{Flags, Maker};
use crate::error::Error;
use crate::objects::{calls_webhooks, text_difference};
use crate::output::{note, print, say};
use crate::program::{self, Words};

/// What `kubewright manifests` is called with.
#[derive(Args, Debug)]
pub(crate) struct ManifestsArguments {
    /// The operator's folder: a Cargo package with one program.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// The operator's image; with it, also what runs the operator inside the cluster.
    #[arg(long)]
    image: Option<String>,
    /// The namespace to run in [default: NAME-system].
    #[arg(long)]
    namespace: Option<String>,
    /// Add a component: network-policy, prometheus or pod-disruption-budget; may be given several
    /// times.
    #[arg(
        long,
        value_name = "COMPONENT",
        value_delimiter = ',',
        requires = "image"
    )]
    with: Vec<Component>,
    /// Who makes the webhooks' certificate [default: whoever installs the operator].
    #[arg(long, value_name = "WHO")]
    certificates: Option<Maker>,
    /// Let webhooks stand in for policies, for a cluster that serves none.
    #[arg(long)]
    no_policies: bool,
    /// Write a folder for `kustomize build` instead of printing.
    #[arg(long, value_name = "DIR", conflicts_with = "helm", requires = "image")]
    kustomize: Option<PathBuf>,
    /// Write a Helm chart instead of printing.
    #[arg(long, value_name = "DIR", requires = "image")]
    helm: Option<PathBuf>,
    /// Only show what would change in the files of `--kustomize` or `--helm`.
    #[arg(long)]
    dry_run: bool,
}

/// Prints or writes what a cluster needs for the operator.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the files written.
pub(crate) async fn manifests(arguments: &ManifestsArguments) -> Result<(), Error> {
    let program = program::build(&arguments.folder, Words::Shown).await?;
    let flags = Flags {
        image: arguments.image.as_deref(),
        namespace: arguments.namespace.as_deref(),
        with: &arguments.with,
        certificates: arguments.certificates,
        no_policies: arguments.no_policies,
    };
    let objects = program::manifests(&program, &flags.words()).await?;
    let nobody_makes_one = arguments.image.is_some() && arguments.certificates.is_none();
    if nobody_makes_one && objects.iter().any(calls_webhooks) {
        note(
            "note: the Pod reads the webhooks' certificate from a Secret of the Service's name, \
             and the configurations need its authority as caBundle; `kubewright deploy` makes both, \
             --certificates names others who do",
        );
    }
    let failed = |source| Error::Manifest { source };
    if let Some(folder) = &arguments.kustomize {
        return arguments.put(folder, &kustomization(&objects).map_err(failed)?);
    }
    if let Some(folder) = &arguments.helm {
        let package = program::package(&arguments.folder).await?;
        let chart = Chart {
            name: package.name,
            version: package.version,
        };
        return arguments.put(folder, &helm_chart(&objects, &chart).map_err(failed)?);
    }
    print(&to_yaml(&objects).map_err(failed)?)
}

impl ManifestsArguments {
    /// Writes the files, or shows what that would change.
    fn put(&self, folder: &Path, files: &[OutputFile]) -> Result<(), Error> {
        match self.dry_run {
            true => {
                changes(folder, files).iter().for_each(say);
                Ok(())
            }
            false => write(folder, files),
        }
    }
}

/// The files that an earlier call wrote and that are not among these.
fn left_over(folder: &Path, files: &[OutputFile]) -> Vec<String> {
    // The index comes first; where there is none, no earlier call wrote here.
    let index = files.first().map(|index| folder.join(&index.path));
    match index.is_some_and(|index| index.is_file()) {
        true => stale_files(files),
        false => Vec::new(),
    }
}

/// What writing the files would change, one line each, with the lines of the files below.
fn changes(folder: &Path, files: &[OutputFile]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut same = 0;
    for file in files {
        let path = folder.join(&file.path);
        let (word, old) = match std::fs::read_to_string(&path) {
            Ok(old) if old == file.text => {
                same += 1;
                continue;
            }
            Ok(old) => ("changed", old),
            Err(_) => ("new    ", String::new()),
        };
        lines.push(format!("{word}  {}", path.display()));
        let difference = text_difference(&old, &file.text).into_iter();
        lines.extend(difference.map(|line| format!("    {line}")));
    }
    let former = left_over(folder, files).into_iter();
    let former = former.map(|path| folder.join(path));
    let gone = former.filter(|path| path.is_file());
    lines.extend(gone.map(|path| format!("delete   {}", path.display())));
    if same > 0 {
        lines.push(format!("same     {same} files"));
    }
    lines
}

/// The files are output and nothing else: those that are there are written anew, and those that an
/// earlier call wrote beside them go.
fn write(folder: &Path, files: &[OutputFile]) -> Result<(), Error> {
    let former = left_over(folder, files);
    for file in files {
        let path = folder.join(&file.path);
        let failed = |source| Error::File {
            action: "write",
            path: path.clone(),
            source,
        };
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        std::fs::write(&path, &file.text).map_err(failed)?;
        say(format_args!("wrote    {}", path.display()));
    }
    for path in former.iter().map(|path| folder.join(path)) {
        match std::fs::remove_file(&path) {
            Ok(()) => say(format_args!("removed  {}", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => {
                return Err(Error::File {
                    action: "remove",
                    path,
                    source,
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use kubewright_manifest::OutputFile;

    use super::{changes, write};

    fn files(paths: &[&str]) -> Vec<OutputFile> {
        let file = |path: &&str| OutputFile {
            path: (*path).to_owned(),
            text: String::new(),
        };
        paths.iter().map(file).collect()
    }

    #[test]
    fn a_component_that_is_asked_for_no_longer_leaves_no_file_behind() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let own = folder.join("templates/notes.yaml");
        fs::create_dir(folder.join("templates")).unwrap();
        fs::write(&own, "mine").unwrap();
        let monitor = "templates/prometheus.yaml";
        write(
            folder,
            &files(&["Chart.yaml", "templates/rbac.yaml", monitor]),
        )
        .unwrap();
        assert!(folder.join(monitor).is_file());
        write(folder, &files(&["Chart.yaml", "templates/rbac.yaml"])).unwrap();
        assert!(!folder.join(monitor).exists());
        assert!(own.is_file() && folder.join("templates/rbac.yaml").is_file());
    }

    #[test]
    fn what_writing_would_change_is_shown_and_nothing_written() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let with = |texts: &[(&str, &str)]| -> Vec<OutputFile> {
            let file = |(path, text): &(&str, &str)| OutputFile {
                path: (*path).to_owned(),
                text: (*text).to_owned(),
            };
            texts.iter().map(file).collect()
        };
        let first = [
            ("kustomization.yaml", "a\n"),
            ("crds.yaml", "b\n"),
            ("prometheus.yaml", "c\n"),
        ];
        write(folder, &with(&first)).unwrap();
        let second = with(&[
            ("kustomization.yaml", "a\n"),
            ("crds.yaml", "x\n"),
            ("rbac.yaml", "y\n"),
        ]);
        let shown = changes(folder, &second).join("\n");
        let shown = shown.replace(&format!("{}/", folder.display()), "");
        assert_eq!(
            shown,
            "changed  crds.yaml\n    - b\n    + x\nnew      rbac.yaml\n    + y\n\
             delete   prometheus.yaml\nsame     1 files"
        );
        assert_eq!(fs::read_to_string(folder.join("crds.yaml")).unwrap(), "b\n");
        assert!(!folder.join("rbac.yaml").exists() && folder.join("prometheus.yaml").exists());
    }

    #[test]
    fn a_folder_that_no_earlier_call_wrote_to_keeps_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("prometheus.yaml");
        fs::write(&own, "mine").unwrap();
        write(folder.path(), &files(&["kustomization.yaml", "rbac.yaml"])).unwrap();
        assert!(own.is_file());
    }
}
