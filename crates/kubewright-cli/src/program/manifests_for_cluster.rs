use std::path::Path;

use serde_json::Value;

use super::manifests;
use crate::error::Error;
use crate::objects::{Kinds, are_policies_served, is_policy};

/// What tells the program that webhooks stand in for its policies.
pub(crate) const NO_POLICIES: &str = "--no-policies";

/// The objects that a program prints for one cluster.
#[derive(Debug)]
pub(crate) struct ClusterManifests<'f> {
    pub(crate) objects: Vec<Value>,
    /// What it was told.
    pub(crate) flags: Vec<&'f str>,
}

impl ClusterManifests<'_> {
    /// Whether webhooks stand in for policies, which the cluster does not serve.
    pub(crate) fn has_stand_ins(&self) -> bool {
        self.flags.contains(&NO_POLICIES)
    }
}

/// The objects that `PROGRAM manifests` prints for this cluster: where it does not serve the
/// policies among them, webhooks stand in.
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
        let kinds = Kinds::discover(client).await?;
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

    /// A program that prints one object, and a webhook where it is told that none of its policies
    /// is served.
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
        // Another process writes it: one that this process had open could not be started while a
        // test beside this one starts something.
        let mut copy = Command::new("install");
        let copied = copy.args(["-m", "755"]).arg(&source).arg(&program).status();
        assert!(copied.unwrap().success());
        program
    }

    /// What comes of an object on the embedded cluster: kinds, and what the program was told.
    async fn fitted(object: Value) -> (Vec<Value>, Vec<&'static str>) {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path(), &object);
        let server = Server::new(ServerOptions::default());
        let client = kube::Client::new(server.service(User::admin()), "default");
        let found = manifests_for_cluster(&client, &program, vec!["--image", "none"]).await;
        let found = found.unwrap();
        assert_eq!(found.has_stand_ins(), found.flags.len() == 3);
        let ClusterManifests { objects, flags } = found;
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
    async fn a_cluster_that_serves_the_policies_gets_them() {
        let (kinds, flags) = fitted(policy("v1")).await;
        assert_eq!(kinds, ["ValidatingAdmissionPolicy"]);
        assert_eq!(flags, ["--image", "none"]);
    }

    #[tokio::test]
    async fn a_cluster_without_the_kind_gets_stand_ins_and_the_program_is_told() {
        let (kinds, flags) = fitted(policy("v0")).await;
        assert_eq!(kinds, ["ValidatingWebhookConfiguration"]);
        assert_eq!(flags, ["--image", "none", "--no-policies"]);
    }

    #[tokio::test]
    async fn a_program_without_policies_is_told_nothing() {
        let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}});
        let (kinds, flags) = fitted(service).await;
        assert_eq!(kinds, ["Service"]);
        assert_eq!(flags, ["--image", "none"]);
    }
}
