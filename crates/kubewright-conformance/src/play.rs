//! Plays a case on a cluster.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Request;
use kubewright_core::NamedExpression;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::case::{Case, Step};
use crate::response::Response;
use crate::webhooks::{Configuration, configurations};
use crate::{Error, Target, WebhookStub};

/// The interval at which a step is repeated.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long a step is repeated.
const STEP_TIMEOUT: Duration = Duration::from_secs(20);

/// Sends the requests of a case to a cluster, in a namespace named after the case. `stub` serves its
/// webhooks.
///
/// # Cancel safety
///
/// When dropped, requests may have been sent.
pub async fn play(
    case: &Case,
    target: &Target,
    stub: &WebhookStub,
) -> Result<Vec<Response>, Error> {
    let namespace = format!("case-{}", case.name);
    target.cluster().create_namespace(&namespace).await?;
    let configurations = configurations(&case.webhooks, &namespace, stub);
    let mut player = Player {
        case,
        target,
        saved: BTreeMap::from(stub.names()),
    };
    let condition = NamedExpression::not_finalizing();
    player.saved.insert("ns".to_owned(), namespace);
    player.saved.insert(condition.name, condition.expression);
    player.install(&configurations).await?;
    let mut responses = Vec::new();
    for step in &case.steps {
        let response = player.run_step(step).await?;
        if !step.aside {
            responses.push(response);
        }
    }
    player.remove(&configurations).await?;
    Ok(responses)
}

struct Player<'a> {
    case: &'a Case,
    target: &'a Target,
    saved: BTreeMap<String, String>,
}

impl Player<'_> {
    /// Creates the webhook configurations of the case and waits until they have an effect.
    async fn install(&mut self, configurations: &[Configuration]) -> Result<(), Error> {
        for configuration in configurations {
            let object = Some(&configuration.object);
            self.prepare("POST", &configuration.path, object, 201)
                .await?;
            let path = "/api/v1/namespaces/{ns}/configmaps?dryRun=All";
            self.prepare("POST", path, Some(&configuration.probe), 403)
                .await?;
        }
        Ok(())
    }

    async fn remove(&mut self, configurations: &[Configuration]) -> Result<(), Error> {
        for configuration in configurations {
            let path = format!("{}/{{ns}}", configuration.path);
            self.prepare("DELETE", &path, None, 200).await?;
        }
        Ok(())
    }

    /// Repeats a request until its response has a status.
    async fn prepare(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        status: u16,
    ) -> Result<(), Error> {
        let step = Step {
            request: format!("{method} {path}"),
            body: body.cloned(),
            until: Some(status),
            aside: true,
            ..Step::default()
        };
        self.run_step(&step).await.map(drop)
    }

    async fn run_step(&mut self, step: &Step) -> Result<Response, Error> {
        let start = Instant::now();
        let response = loop {
            let response = self.send(step).await?;
            let Some(missing) = missing(step, &response) else {
                break response;
            };
            if start.elapsed() >= STEP_TIMEOUT {
                return Err(Error::Timeout {
                    expected: format!("{missing} of {}: {}", self.case.name, step.request),
                    elapsed: start.elapsed(),
                    last: format!("{} {}", response.status, response.body),
                });
            }
            sleep(POLL_INTERVAL).await;
        };
        if step.aside && step.until.is_none() && response.status >= 400 {
            let why = format!(
                "only prepares, and failed with {} {}",
                response.status, response.body
            );
            return Err(self.invalid(step, why));
        }
        for (name, pointer) in &step.save {
            let found = response.body.pointer(pointer).and_then(Value::as_str);
            let found = found.ok_or_else(|| self.invalid(step, format!("no {pointer} to save")))?;
            self.saved.insert(name.clone(), found.to_owned());
        }
        for (name, pointer) in &step.keep {
            if let Some(found) = response.body.pointer(pointer).and_then(Value::as_str) {
                self.saved.insert(name.clone(), found.to_owned());
            }
        }
        Ok(response.only(&step.only))
    }

    async fn send(&self, step: &Step) -> Result<Response, Error> {
        let filled = self.fill(&step.request);
        let (method, path) = filled
            .split_once(' ')
            .ok_or_else(|| self.invalid(step, "a request is METHOD PATH".to_owned()))?;
        let body = self.body(step)?;
        let mut request = Request::builder().method(method).uri(path);
        let has_type = step
            .headers
            .keys()
            .any(|name| name.eq_ignore_ascii_case("content-type"));
        if body.is_some() && !has_type {
            let media_type = step
                .patch
                .map_or("application/json", |patch| patch.content_type());
            request = request.header("Content-Type", media_type);
        }
        for (name, value) in &step.headers {
            request = request.header(name, self.fill(value));
        }
        let request = request
            .body(body.unwrap_or_default())
            .map_err(|why| self.invalid(step, why.to_string()))?;
        let response = self.target.send(step.user.as_deref(), request).await?;
        Ok(Response::new(
            &step.request,
            response.status().as_u16(),
            response.headers(),
            response.body(),
        ))
    }

    fn body(&self, step: &Step) -> Result<Option<Vec<u8>>, Error> {
        if let Some(text) = &step.base64 {
            let bytes = STANDARD.decode(text);
            return bytes
                .map(Some)
                .map_err(|why| self.invalid(step, why.to_string()));
        }
        let text = step.body.as_ref().map(Value::to_string);
        let text = text.or_else(|| step.raw.clone());
        Ok(text.map(|text| self.fill(&text).into_bytes()))
    }

    fn fill(&self, text: &str) -> String {
        self.saved
            .iter()
            .fold(text.to_owned(), |text, (name, value)| {
                text.replace(&format!("{{{name}}}"), value)
            })
    }

    fn invalid(&self, step: &Step, why: String) -> Error {
        Error::Case {
            path: self.case.name.clone().into(),
            why: format!("{}: {why}", step.request),
        }
    }
}

/// The expected part that a response lacks.
fn missing(step: &Step, response: &Response) -> Option<String> {
    if let Some(status) = step.until.filter(|status| response.status != *status) {
        return Some(format!("status {status}"));
    }
    let is_there = |pointer: &str, expected: &Value| {
        response.body.pointer(pointer).unwrap_or(&Value::Null) == expected
    };
    let mut awaits = step.awaits.iter();
    let (pointer, expected) = awaits.find(|(pointer, expected)| !is_there(pointer, expected))?;
    Some(format!("{expected} at {pointer}"))
}

#[cfg(test)]
mod tests {
    use super::{WebhookStub, play};
    use crate::Target;
    use crate::case::Case;
    use kubewright_testing::Cluster;

    #[tokio::test(start_paused = true)]
    async fn step_fails_at_its_timeout() {
        let mut case: Case = serde_saphyr::from_str(
            "row: none\nabout: never ends\nsteps:\n  - {request: GET /version, until: 418}\n",
        )
        .unwrap();
        case.name = "endless".to_owned();
        let target = Target::new(Cluster::embedded().start().await.unwrap());
        let stub = WebhookStub::start().await.unwrap();
        let error = play(&case, &target, &stub).await.unwrap_err().to_string();
        assert!(
            error.starts_with(
                "wait for status 418 of endless: GET /version: not there after 20s; the last response was: 200 {"
            ),
            "{error}"
        );
        target.close().await.unwrap();
    }
}
