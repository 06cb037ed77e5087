//! Tests of an operator that a Deployment of the cluster runs.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

use kubewright_core::Description;
use serde_json::Value;

use super::handle::Cluster;
use crate::Error;

/// Why a test is skipped while it runs. It is the payload of a panic.
#[derive(Debug)]
pub(crate) struct Skip(pub(crate) String);

impl Skip {
    /// Skips the test if its runner supports that. Otherwise the test fails with a message, because
    /// other runners would only report a panic without text.
    #[expect(clippy::panic, reason = "a test fails by panicking")]
    fn end_test(self, supports_skips: &AtomicBool) {
        if supports_skips.load(Ordering::Relaxed) {
            resume_unwind(Box::new(self));
        }
        panic!(
            "{}: exclude this test; #[kubewright_testing::test] skips it automatically",
            self.0
        );
    }
}

impl Cluster {
    /// Declares that the runner of the test can skip it.
    pub(crate) fn enable_skips(&self) {
        self.shared.supports_skips.store(true, Ordering::Relaxed);
    }

    /// Skips the test if a Deployment of the cluster runs the operator under test.
    pub(super) fn require_own_operator(&self, action: &str) {
        if self.shared.backend.runs_operator() {
            let reason = format!("a test cannot {action} an operator that a Deployment runs");
            Skip(reason).end_test(&self.shared.supports_skips);
        }
    }

    /// Waits until the operator's Deployment in the namespace `NAME-system` is available.
    pub(super) async fn wait_for_deployed(&self, description: &Description) -> Result<(), Error> {
        if !self.shared.backend.is_first_run() {
            self.require_own_operator("run a second copy of");
        }
        let name = &description.name;
        let path = format!("/apis/apps/v1/namespaces/{name}-system/deployments/{name}");
        let condition = format!("Deployment {name}-system/{name} of the operator");
        self.until(&condition, async || match self.read(&path).await {
            Ok(found) => Ok(unavailable(&found)),
            Err(kube::Error::Api(status)) if status.code == 404 => {
                Ok(Some("not there; `kubewright deploy` creates it".to_owned()))
            }
            Err(source) => Err(Error::request(format!("read {path}"))(source)),
        })
        .await
    }
}

/// Why a Deployment does not run the operator; `None` if it does.
fn unavailable(deployment: &Value) -> Option<String> {
    let number = |value: &Value| value.as_i64().unwrap_or_default();
    let replicas = deployment["spec"]["replicas"].as_i64().unwrap_or(1);
    let available = number(&deployment["status"]["availableReplicas"]);
    if replicas == 0 {
        return Some("stopped: it has no replicas".to_owned());
    }
    (available < replicas).then(|| format!("{available} of {replicas} available"))
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::sync::atomic::AtomicBool;

    use serde_json::json;

    use super::{Skip, unavailable};

    #[test]
    fn skip_fails_the_test_if_its_runner_does_not_support_skips() {
        let end_test = |supports_skips| {
            let skip = Skip("a test cannot stop it".to_owned());
            let ended = catch_unwind(|| skip.end_test(&AtomicBool::new(supports_skips)));
            ended.expect_err("the test ends")
        };
        let skipped = end_test(true).downcast::<Skip>().unwrap();
        assert_eq!(skipped.0, "a test cannot stop it");
        let failed = end_test(false).downcast::<String>().unwrap();
        assert!(
            failed.starts_with("a test cannot stop it: exclude this test"),
            "{failed}"
        );
    }

    #[test]
    fn deployment_runs_the_operator_when_all_replicas_are_available() {
        let deployment = |replicas: i64, available: i64| {
            unavailable(&json!({
                "spec": {"replicas": replicas}, "status": {"availableReplicas": available},
            }))
        };
        assert_eq!(deployment(1, 1), None);
        assert_eq!(deployment(2, 1).as_deref(), Some("1 of 2 available"));
        assert!(deployment(0, 0).is_some(), "no replica runs");
        assert!(unavailable(&json!({})).is_some());
    }
}
