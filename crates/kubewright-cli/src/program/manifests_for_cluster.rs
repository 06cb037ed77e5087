//! The manifests of a program for one cluster: where the cluster does not serve admission policies,
//! they contain webhooks instead.

use std::path::Path;

use serde_json::Value;

use super::manifests::manifests;
use crate::error::Error;
use crate::objects::{ServedKinds, are_policies_served, is_policy};

/// The flag with which a program prints and serves webhooks instead of policies.
pub(crate) const NO_POLICIES: &str = "--no-policies";

/// The manifests that a program prints for one cluster.
#[derive(Debug)]
pub(crate) struct ClusterManifests<'f> {
    pub(crate) objects: Vec<Value>,
    /// The flags that the program was called with.
    pub(crate) flags: Vec<&'f str>,
}

impl ClusterManifests<'_> {
    /// Whether webhooks replace policies, which the cluster does not serve.
    pub(crate) fn replace_policies(&self) -> bool {
        self.flags.contains(&NO_POLICIES)
    }
}

/// Returns the manifests that a program prints for the cluster.
///
/// # Cancel safety
///
/// Dropping the future ends the program, which only prints.
pub(crate) async fn manifests_for_cluster<'f>(
    client: &kube::Client,
    program: &Path,
    mut flags: Vec<&'f str>,
) -> Result<ClusterManifests<'f>, Error> {
    let mut objects = manifests(program, &flags).await?;
    if objects.iter().any(is_policy) {
        let kinds = ServedKinds::discover(client).await?;
        if !are_policies_served(&kinds, &objects) {
            flags.push(NO_POLICIES);
            objects = manifests(program, &flags).await?;
        }
    }
    Ok(ClusterManifests { objects, flags })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use kubewright_apiserver::{Server, ServerOptions, User};
    use serde_json::{Value, json};

    use super::{ClusterManifests, manifests_for_cluster};

    /// Writes a program that prints one object, or a webhook when it is called with
    /// `--no-policies`.
    fn program(folder: &Path, object: &Value) -> PathBuf {
        let webhook = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "guard"},
        });
        let text = format!(
            "#!/bin/sh\ncase \"$*\" in\n*--no-policies*) echo '{webhook}' ;;\n\
             *) echo '{object}' ;;\nesac\n"
        );
        let (source, program) = (folder.join("program.sh"), folder.join("program"));
        fs::write(&source, text).unwrap();
        // A process that is started by another test in the meantime would inherit the open file,
        // and the program could not be executed: so another process writes it.
        let mut copy = Command::new("install");
        let copied = copy.args(["-m", "755"]).arg(&source).arg(&program).status();
        assert!(copied.unwrap().success());
        program
    }

    /// Returns the kinds that the embedded cluster gets from a program with the object, and the
    /// flags that the program was called with.
    async fn kinds_and_flags(object: Value) -> (Vec<Value>, Vec<&'static str>) {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path(), &object);
        let server = Server::new(ServerOptions::default());
        let client = kube::Client::new(server.service(User::admin()), "default");
        let manifests = manifests_for_cluster(&client, &program, vec!["--image", "none"])
            .await
            .unwrap();
        assert_eq!(manifests.replace_policies(), manifests.flags.len() == 3);
        let ClusterManifests { objects, flags } = manifests;
        let kinds = objects.iter().map(|object| object["kind"].clone());
        (kinds.collect(), flags)
    }

    fn policy(version: &str) -> Value {
        json!({
            "apiVersion": format!("admissionregistration.k8s.io/{version}"),
            "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "guard"},
        })
    }

    #[tokio::test]
    async fn cluster_that_serves_policies_gets_policies() {
        let (kinds, flags) = kinds_and_flags(policy("v1")).await;
        assert_eq!(kinds, ["ValidatingAdmissionPolicy"]);
        assert_eq!(flags, ["--image", "none"]);
    }

    #[tokio::test]
    async fn cluster_without_policies_gets_webhooks() {
        let (kinds, flags) = kinds_and_flags(policy("v0")).await;
        assert_eq!(kinds, ["ValidatingWebhookConfiguration"]);
        assert_eq!(flags, ["--image", "none", "--no-policies"]);
    }

    #[tokio::test]
    async fn program_without_policies_gets_no_extra_flag() {
        let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}});
        let (kinds, flags) = kinds_and_flags(service).await;
        assert_eq!(kinds, ["Service"]);
        assert_eq!(flags, ["--image", "none"]);
    }
}
