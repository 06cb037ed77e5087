use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

use kubewright_core::Description;
use serde_json::Value;

use super::handle::Cluster;
use crate::Error;

/// Why a test ends before its end without having failed. It travels up as a panic does.
#[derive(Debug)]
pub(crate) struct Skip(pub(crate) String);

impl Skip {
    /// Ends the test: skipped where whoever runs it knows what that is, else failed, as all that
    /// others would know is that somebody panicked without a word.
    #[expect(clippy::panic, reason = "a test fails by panicking")]
    fn end_test(self, is_understood: &AtomicBool) {
        if is_understood.load(Ordering::Relaxed) {
            resume_unwind(Box::new(self));
        }
        panic!(
            "{}: leave this test out there; #[kubewright_testing::test] skips it by itself",
            self.0
        );
    }
}

impl Cluster {
    /// From now on a skip is no failure.
    pub(crate) fn understand_skips(&self) {
        let is_understood = &self.shared.understands_skips;
        is_understood.store(true, Ordering::Relaxed);
    }

    /// Ends the test, skipped, where the operator under test runs in the cluster and not in this
    /// process.
    pub(super) fn needs_own_operator(&self, what: &str) {
        if self.shared.backend.runs_operator() {
            let why = format!("nobody can {what} an operator that the cluster runs");
            Skip(why).end_test(&self.shared.understands_skips);
        }
    }

    /// Waits until the cluster runs the operator: the Deployment of its name in `NAME-system`.
    pub(super) async fn find_deployed(&self, description: &Description) -> Result<(), Error> {
        if !self.shared.backend.is_first_run() {
            self.needs_own_operator("run a second copy of");
        }
        let name = &description.name;
        let path = format!("/apis/apps/v1/namespaces/{name}-system/deployments/{name}");
        let what = format!("Deployment {name}-system/{name}, which is to run the operator");
        self.until(&what, async || match self.read(&path).await {
            Ok(found) => Ok(unavailable(&found)),
            Err(kube::Error::Api(status)) if status.code == 404 => {
                Ok(Some("not there; `kubewright deploy` brings it".to_owned()))
            }
            Err(source) => Err(Error::Request {
                tried: format!("read {path}"),
                source: Box::new(source),
            }),
        })
        .await
    }
}

/// What a Deployment lacks.
fn unavailable(deployment: &Value) -> Option<String> {
    let number = |value: &Value| value.as_i64().unwrap_or_default();
    let wanted = deployment["spec"]["replicas"].as_i64().unwrap_or(1);
    let available = number(&deployment["status"]["availableReplicas"]);
    if wanted == 0 {
        return Some("stopped: it has no replicas".to_owned());
    }
    (available < wanted).then(|| format!("{available} of {wanted} available"))
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::sync::atomic::AtomicBool;

    use serde_json::json;

    use super::{Skip, unavailable};

    #[test]
    fn a_skip_that_nobody_understands_fails_the_test_in_words() {
        let ended = |is_understood| {
            let skip = Skip("nobody can stop it".to_owned());
            let ended = catch_unwind(|| skip.end_test(&AtomicBool::new(is_understood)));
            ended.expect_err("the test ends")
        };
        let understood = ended(true).downcast::<Skip>().unwrap();
        assert_eq!(understood.0, "nobody can stop it");
        let failed = ended(false).downcast::<String>().unwrap();
        assert!(
            failed.starts_with("nobody can stop it: leave this test out"),
            "{failed}"
        );
    }

    #[test]
    fn a_deployment_runs_the_operator_when_all_of_it_is_available() {
        let deployment = |replicas: i64, available: i64| {
            unavailable(&json!({
                "spec": {"replicas": replicas}, "status": {"availableReplicas": available},
            }))
        };
        assert_eq!(deployment(1, 1), None);
        assert_eq!(deployment(2, 1).as_deref(), Some("1 of 2 available"));
        assert!(deployment(0, 0).is_some(), "nobody works");
        assert!(unavailable(&json!({})).is_some());
    }
}
