use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Request;
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use kubewright_apiserver::User;
use kubewright_core::NamedExpression;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::WebhookStub;
use super::answer::Answer;
use super::case::{Case, Step};
use super::webhooks::{Configuration, configurations};
use crate::{Cluster, Error};

const POLL: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends a case's requests to a cluster, in a namespace named after the case. Its webhooks are
/// those of `stub`.
///
/// # Cancel safety
///
/// When dropped, the requests sent so far stay done.
pub async fn play(
    case: &Case,
    cluster: &Cluster,
    stub: &WebhookStub,
) -> Result<Vec<Answer>, Error> {
    let namespace = format!("case-{}", case.name);
    cluster.make_namespace(&namespace).await?;
    let configurations = configurations(&case.webhooks, &namespace, stub);
    let mut player = Player {
        case,
        cluster,
        saved: BTreeMap::from(stub.names()),
    };
    let condition = NamedExpression::not_finalizing();
    player.saved.insert("ns".to_owned(), namespace);
    player.saved.insert(condition.name, condition.expression);
    player.install(&configurations).await?;
    let mut answers = Vec::new();
    for step in &case.steps {
        let answer = player.take(step).await?;
        if !step.aside {
            answers.push(answer);
        }
    }
    player.remove(&configurations).await?;
    Ok(answers)
}

struct Player<'a> {
    case: &'a Case,
    cluster: &'a Cluster,
    saved: BTreeMap<String, String>,
}

impl Player<'_> {
    /// Makes the case's webhook configurations and waits until they act.
    async fn install(&mut self, configurations: &[Configuration]) -> Result<(), Error> {
        for one in configurations {
            let made = self.prepare("POST", &one.path, Some(&one.object), 201);
            made.await?;
            let probe = "/api/v1/namespaces/{ns}/configmaps?dryRun=All";
            self.prepare("POST", probe, Some(&one.probe), 403).await?;
        }
        Ok(())
    }

    async fn remove(&mut self, configurations: &[Configuration]) -> Result<(), Error> {
        for one in configurations {
            let path = format!("{}/{{ns}}", one.path);
            self.prepare("DELETE", &path, None, 200).await?;
        }
        Ok(())
    }

    /// Sends a request until it is answered as it should be.
    async fn prepare(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        wanted: u16,
    ) -> Result<(), Error> {
        let step = Step {
            request: format!("{method} {path}"),
            body: body.cloned(),
            until: Some(wanted),
            aside: true,
            ..Step::default()
        };
        self.take(&step).await.map(drop)
    }

    async fn take(&mut self, step: &Step) -> Result<Answer, Error> {
        let client = match &step.user {
            None => self.cluster.client(),
            Some(name) => {
                let user = User::new(name.clone(), Vec::<String>::new());
                self.cluster.client_for(&user).await?
            }
        };
        let start = Instant::now();
        let answer = loop {
            let answer = self.ask(&client, step).await?;
            let Some(wanted) = missing(step, &answer) else {
                break answer;
            };
            if start.elapsed() >= PATIENCE {
                return Err(Error::Waited {
                    what: format!("{wanted} of {}: {}", self.case.name, step.request),
                    waited: start.elapsed(),
                    last: format!("{} {}", answer.status, answer.body),
                });
            }
            sleep(POLL).await;
        };
        if step.aside && step.until.is_none() && answer.status >= 400 {
            let why = format!(
                "only prepares, and was refused: {} {}",
                answer.status, answer.body
            );
            return Err(self.wrong(step, why));
        }
        for (name, pointer) in &step.save {
            let found = answer.body.pointer(pointer).and_then(Value::as_str);
            let found = found.ok_or_else(|| self.wrong(step, format!("no {pointer} to save")))?;
            self.saved.insert(name.clone(), found.to_owned());
        }
        for (name, pointer) in &step.keep {
            if let Some(found) = answer.body.pointer(pointer).and_then(Value::as_str) {
                self.saved.insert(name.clone(), found.to_owned());
            }
        }
        Ok(answer.only(&step.only))
    }

    async fn ask(&self, client: &Client, step: &Step) -> Result<Answer, Error> {
        let filled = self.fill(&step.request);
        let (method, path) = filled
            .split_once(' ')
            .ok_or_else(|| self.wrong(step, "a request is METHOD PATH".to_owned()))?;
        let body = self.body(step)?;
        let mut request = Request::builder().method(method).uri(path);
        let typed = step
            .headers
            .keys()
            .any(|name| name.eq_ignore_ascii_case("content-type"));
        if body.is_some() && !typed {
            let kind = step
                .patch
                .map_or("application/json", |patch| patch.content_type());
            request = request.header("Content-Type", kind);
        }
        for (name, value) in &step.headers {
            request = request.header(name, self.fill(value));
        }
        let request = request
            .body(Body::from(body.unwrap_or_default()))
            .map_err(|why| self.wrong(step, why.to_string()))?;
        let failed = |source| Error::Request {
            tried: format!("{}: {}", self.case.name, step.request),
            source: Box::new(source),
        };
        let response = client.send(request).await.map_err(failed)?;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.map_err(failed)?.to_bytes();
        Ok(Answer::new(
            &step.request,
            parts.status.as_u16(),
            &parts.headers,
            &bytes,
        ))
    }

    fn body(&self, step: &Step) -> Result<Option<Vec<u8>>, Error> {
        if let Some(text) = &step.base64 {
            let bytes = STANDARD.decode(text);
            return bytes
                .map(Some)
                .map_err(|why| self.wrong(step, why.to_string()));
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

    fn wrong(&self, step: &Step, why: String) -> Error {
        Error::Case {
            path: self.case.name.clone().into(),
            why: format!("{}: {why}", step.request),
        }
    }
}

/// What a step waits for and an answer lacks.
fn missing(step: &Step, answer: &Answer) -> Option<String> {
    if let Some(wanted) = step.until.filter(|wanted| answer.status != *wanted) {
        return Some(format!("status {wanted}"));
    }
    let is_there = |(pointer, wanted): &(&String, &Value)| {
        answer.body.pointer(pointer).unwrap_or(&Value::Null) == *wanted
    };
    let (pointer, wanted) = step.awaits.iter().find(|one| !is_there(one))?;
    Some(format!("{wanted} at {pointer}"))
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use super::{WebhookStub, play};
    use crate::Cluster;

    #[tokio::test(start_paused = true)]
    async fn a_status_that_never_comes_is_an_error() {
        let mut case: Case = serde_saphyr::from_str(
            "row: none\nabout: waits in vain\nsteps:\n  - {request: GET /version, until: 418}\n",
        )
        .unwrap();
        case.name = "vain".to_owned();
        let cluster = Cluster::embedded().start().await.unwrap();
        let stub = WebhookStub::start().await.unwrap();
        let error = play(&case, &cluster, &stub).await.unwrap_err().to_string();
        assert!(
            error.starts_with(
                "wait for status 418 of vain: GET /version: not there after 20s; last seen: 200 {"
            ),
            "{error}"
        );
        cluster.close().await.unwrap();
    }
}
