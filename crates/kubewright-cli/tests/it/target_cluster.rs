//! A cluster that operators are deployed to, reached by its kubeconfig as the command reaches it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kube::api::{ApiResource, DynamicObject};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};

use super::nested_build::{operator, without_package_variables};
use super::{kubewright, stderr, stdout};

/// A cluster and the operator that is deployed to it.
pub(super) struct TargetCluster {
    operator: PathBuf,
    /// The program to build the operator with; none for cargo.
    cargo: Option<PathBuf>,
    kubeconfig: PathBuf,
    config: Config,
    client: Client,
}

impl TargetCluster {
    /// Uses an operator of the workspace.
    pub(super) async fn new(operator_name: &str, kubeconfig: &Path) -> Self {
        let read = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
        let config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await;
        let config = config.expect("a configuration");
        Self {
            operator: operator(operator_name),
            cargo: None,
            kubeconfig: kubeconfig.to_owned(),
            client: Client::try_from(config.clone()).expect("a client"),
            config,
        }
    }

    /// Uses the operator in another folder, and the program `cargo` there to build it.
    pub(super) fn with_operator_in(self, folder: &Path) -> Self {
        Self {
            operator: folder.to_owned(),
            cargo: Some(folder.join("cargo")),
            ..self
        }
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    pub(super) fn config(&self) -> Config {
        self.config.clone()
    }

    pub(super) fn client(&self) -> Client {
        self.client.clone()
    }

    /// Calls the command for the operator and this cluster.
    pub(super) fn call(&self, command: &str, flags: &[&str]) -> Output {
        let mut call = self.command(command);
        call.arg("--kubeconfig").arg(&self.kubeconfig);
        call.args(flags).output().expect("the command runs")
    }

    /// Returns the standard output of a call that must succeed.
    pub(super) fn succeed(&self, command: &str, flags: &[&str]) -> String {
        let output = self.call(command, flags);
        let stderr = stderr(&output);
        assert!(output.status.success(), "{command} {flags:?}: {stderr}");
        stdout(&output)
    }

    /// Returns the standard output of a call that must succeed without a cluster.
    pub(super) fn succeed_without_cluster(&self, command: &str, flags: &[&str]) -> String {
        let output = self.command(command).args(flags).output();
        let output = output.expect("the command runs");
        assert!(output.status.success(), "{command} {flags:?}: {output:?}");
        stdout(&output)
    }

    fn command(&self, command: &str) -> Command {
        let mut call = kubewright(&[command]);
        call.arg(&self.operator);
        without_package_variables(&mut call);
        if let Some(cargo) = &self.cargo {
            call.env("CARGO", cargo);
        }
        call
    }

    /// Returns the API of a kind in all namespaces.
    pub(super) fn api(
        &self,
        group: &str,
        version: &str,
        kind: &str,
        plural: &str,
    ) -> Api<DynamicObject> {
        let api_version = match group {
            "" => version.to_owned(),
            group => format!("{group}/{version}"),
        };
        let resource = ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version,
            kind: kind.to_owned(),
            plural: plural.to_owned(),
        };
        Api::all_with(self.client.clone(), &resource)
    }

    pub(super) fn definitions(&self) -> Api<DynamicObject> {
        let (group, kind) = ("apiextensions.k8s.io", "CustomResourceDefinition");
        self.api(group, "v1", kind, "customresourcedefinitions")
    }
}
