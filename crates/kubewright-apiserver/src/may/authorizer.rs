use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubewright_core::{FieldSelector, LabelOperator, LabelSelector};
use kubewright_wire::review::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
    SubjectAccessReviewStatus,
};
use kubewright_wire::route::{Query, ResourceRoute};
use kubewright_wire::status::Status;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Attributes, Decision, Review, Target, forbidden};
use crate::admission::webhook::{AnswerForm, ClientConfig, NoAnswer, Question, call};
use crate::server::Server;
use crate::who::User;

/// A webhook that is asked what users may do, before the roles are: what `kube-apiserver` reads
/// from `--authorization-config`. Who fails for the moment is asked five times, over four seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationWebhook {
    /// Where it is.
    pub url: String,
    /// The authorities (PEM) that vouch for it.
    pub ca_pem: String,
    /// How long it may take.
    pub timeout: Duration,
    /// What happens when it cannot be asked.
    pub on_failure: AuthorizationFailure,
    /// How long its answers count.
    pub kept: AnswerTimes,
}

/// How long the answers of an authorization webhook count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerTimes {
    /// Those that allow something.
    pub allowed: Duration,
    /// All others.
    pub others: Duration,
}

impl AnswerTimes {
    /// Every request is asked about.
    pub const NONE: Self = Self {
        allowed: Duration::ZERO,
        others: Duration::ZERO,
    };
}

/// As in Kubernetes: five minutes for what is allowed, half a minute for the rest.
impl Default for AnswerTimes {
    fn default() -> Self {
        Self {
            allowed: Duration::from_mins(5),
            others: Duration::from_secs(30),
        }
    }
}

/// How often a webhook is asked that fails for the moment, how long the first pause is, and by how
/// much each next one is longer (`DefaultAuthWebhookRetryBackoff`). A single server needs no jitter.
const ATTEMPTS: usize = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const GROWTH: f64 = 1.5;
/// Longer questions are not kept.
const LONGEST_KEPT: usize = 10_000;

/// What happens to a request when the authorization webhook cannot be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuthorizationFailure {
    /// The roles decide.
    #[default]
    NoOpinion,
    /// It is refused.
    Deny,
}

const TORN: &str = "webhook subject access review returned both allow and deny response";

/// Why a request may not be carried out.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The user may not.
    Forbidden(Box<Status>),
    /// Nobody could be asked who would allow it; the client is told in plain text.
    Failed(String),
}

/// What the webhook says.
struct Opinion {
    status: SubjectAccessReviewStatus,
    error: Option<String>,
}

impl AuthorizationWebhook {
    async fn ask(&self, server: &Server, spec: SubjectAccessReviewSpec) -> Opinion {
        let key = serde_json::to_string(&spec).unwrap_or_default();
        let answers = server.answers();
        if let Some(status) = answers.get(&key) {
            return Opinion::of(status);
        }
        let answer = persistently(|| self.answer(server, &spec)).await;
        match answer {
            Ok(status) => {
                let time = match status.allowed {
                    true => self.kept.allowed,
                    false => self.kept.others,
                };
                if key.len() < LONGEST_KEPT && !time.is_zero() {
                    answers.keep(key, status.clone(), time);
                }
                Opinion::of(status)
            }
            Err(error) => Opinion {
                status: SubjectAccessReviewStatus {
                    denied: self.on_failure == AuthorizationFailure::Deny,
                    ..SubjectAccessReviewStatus::default()
                },
                error: Some(error.to_string()),
            },
        }
    }

    async fn answer(
        &self,
        server: &Server,
        spec: &SubjectAccessReviewSpec,
    ) -> Result<SubjectAccessReviewStatus, NoAnswer> {
        let client = ClientConfig::read(&json!({
            "url": self.url, "caBundle": STANDARD.encode(&self.ca_pem),
        }));
        let question = Question {
            url: format!("{}?timeout={}s", self.url, self.timeout.as_secs()),
            client: &client,
            timeout: self.timeout,
            answer: AnswerForm::Json,
        };
        let review = SubjectAccessReview {
            api_version: "authorization.k8s.io/v1".to_owned(),
            kind: "SubjectAccessReview".to_owned(),
            spec: spec.clone(),
            ..SubjectAccessReview::default()
        };
        let answer: SubjectAccessReview = call(server, &question, &review).await?;
        Ok(answer.status)
    }
}

/// Asks until there is an answer, or a failure that lasts, or enough.
async fn persistently<A, Fut>(attempt: impl Fn() -> Fut) -> Result<A, NoAnswer>
where
    Fut: Future<Output = Result<A, NoAnswer>>,
{
    let mut pause = FIRST_PAUSE;
    for _ in 1..ATTEMPTS {
        match attempt().await {
            Err(failure) if failure.is_passing => {}
            settled => return settled,
        }
        sleep(pause).await;
        pause = pause.mul_f64(GROWTH);
    }
    attempt().await
}

impl Opinion {
    fn of(status: SubjectAccessReviewStatus) -> Self {
        let is_torn = status.allowed && status.denied;
        Self {
            error: is_torn.then(|| TORN.to_owned()),
            status: SubjectAccessReviewStatus {
                allowed: status.allowed && !is_torn,
                ..status
            },
        }
    }

    /// The webhook's opinion, or that of the roles where it has none.
    fn settle(self, roles: impl FnOnce() -> Decision) -> (Decision, bool, Option<String>) {
        let Self { status, error } = self;
        let decided = |is_allowed| Decision {
            is_allowed,
            reason: status.reason.clone(),
        };
        if status.denied {
            return (decided(false), true, error);
        }
        if status.allowed {
            return (decided(true), false, error);
        }
        let mut decision = roles();
        if !decision.is_allowed {
            let reasons = [status.reason, decision.reason];
            let reasons: Vec<String> = reasons
                .into_iter()
                .filter(|reason| !reason.is_empty())
                .collect();
            decision.reason = reasons.join("\n");
        }
        (decision, false, error)
    }
}

impl Server {
    /// Whether the user may do what is asked for: the webhook is asked first, where there is one,
    /// then the roles.
    pub(crate) async fn authorize(
        &self,
        asked: &Attributes<'_>,
        request: Option<(&ResourceRoute, &Query)>,
    ) -> Result<(), Refusal> {
        let roles = || self.access().decide(asked);
        let (decision, error) = match self.authorizer().filter(|_| !asked.user.is_master()) {
            None => (roles(), None),
            Some(webhook) => {
                let opinion = webhook.ask(self, question(asked, request)).await;
                let (decision, _, error) = opinion.settle(roles);
                (decision, error)
            }
        };
        match (decision.is_allowed, error) {
            (true, _) => Ok(()),
            (false, Some(error)) => Err(Refusal::Failed(error)),
            (false, None) => Err(Refusal::Forbidden(Box::new(forbidden(
                asked,
                &decision.reason,
            )))),
        }
    }

    /// Lets the webhook have its say in a review that the roles have answered.
    pub(crate) async fn reviewed(&self, kind: Review, user: &User, mut review: Value) -> Value {
        let Some(webhook) = self.authorizer() else {
            return review;
        };
        if kind == Review::SelfSubjectRules {
            review["status"]["incomplete"] = json!(true);
            review["status"]["evaluationError"] =
                json!("webhook authorizer does not support user rule resolution");
        }
        if !kind.is_about_access() {
            return review;
        }
        let spec = serde_json::from_value(review["spec"].clone());
        let mut spec: SubjectAccessReviewSpec = spec.unwrap_or_default();
        if kind == Review::SelfSubjectAccess {
            spec.user.clone_from(&user.name);
            spec.groups.clone_from(&user.groups);
            spec.uid.clone_from(&user.uid);
            spec.extra.clone_from(&user.extra);
        }
        if spec.groups.iter().any(|group| group == "system:masters") {
            return review;
        }
        let roles = || Decision {
            is_allowed: review["status"]["allowed"] == true,
            reason: review["status"]["reason"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        };
        let (decision, denied, error) = webhook.ask(self, spec).await.settle(roles);
        let status = SubjectAccessReviewStatus {
            allowed: decision.is_allowed,
            denied,
            reason: decision.reason,
            evaluation_error: error.unwrap_or_default(),
        };
        review["status"] = serde_json::to_value(status).unwrap_or_default();
        review
    }
}

/// The question as a review spells it.
fn question(
    asked: &Attributes<'_>,
    request: Option<(&ResourceRoute, &Query)>,
) -> SubjectAccessReviewSpec {
    let user = asked.user;
    let mut spec = SubjectAccessReviewSpec {
        user: user.name.clone(),
        groups: user.groups.clone(),
        uid: user.uid.clone(),
        extra: user.extra.clone(),
        ..SubjectAccessReviewSpec::default()
    };
    match asked.target {
        Target::Path(path) => {
            spec.non_resource_attributes = Some(NonResourceAttributes {
                path: path.to_owned(),
                verb: asked.verb.to_owned(),
            });
        }
        Target::Resource(resource) => {
            let mut attributes = ResourceAttributes {
                namespace: resource.namespace.to_owned(),
                verb: asked.verb.to_owned(),
                group: resource.group.to_owned(),
                resource: resource.plural.to_owned(),
                subresource: resource.subresource.to_owned(),
                name: resource.name.to_owned(),
                ..ResourceAttributes::default()
            };
            if let Some((route, query)) = request {
                attributes.version.clone_from(&route.version);
                attributes.label_selector = labels(query);
                attributes.field_selector = fields(query);
            }
            spec.resource_attributes = Some(attributes);
        }
    }
    spec
}

/// What a list is restricted to; a selector that does not parse restricts nothing here, and fails
/// the request later.
fn labels(query: &Query) -> Value {
    let selector = query.get("labelSelector").unwrap_or_default();
    let selector: LabelSelector = selector.parse().unwrap_or_default();
    let one = |operator: &LabelOperator| match operator {
        LabelOperator::In(values) => Some(("In", Some(values.clone()))),
        LabelOperator::NotIn(values) => Some(("NotIn", Some(values.clone()))),
        LabelOperator::Exists => Some(("Exists", None)),
        LabelOperator::DoesNotExist => Some(("DoesNotExist", None)),
        LabelOperator::GreaterThan(_) | LabelOperator::LessThan(_) => None,
    };
    let mut requirements: Vec<_> = selector.requirements.iter().collect();
    requirements.sort_by_key(|requirement| &requirement.key);
    let requirements = requirements.into_iter().filter_map(|requirement| {
        let (operator, values) = one(&requirement.operator)?;
        let mut shown = json!({"key": requirement.key, "operator": operator});
        if let Some(values) = values {
            shown["values"] = json!(values);
        }
        Some(shown)
    });
    shown(requirements.collect())
}

fn fields(query: &Query) -> Value {
    let selector = query.get("fieldSelector").unwrap_or_default();
    let selector: FieldSelector = selector.parse().unwrap_or_default();
    let requirements = selector.requirements.iter().map(|requirement| {
        let operator = if requirement.equal { "In" } else { "NotIn" };
        json!({"key": requirement.path, "operator": operator, "values": [requirement.value]})
    });
    shown(requirements.collect())
}

fn shown(requirements: Vec<Value>) -> Value {
    match requirements.is_empty() {
        true => Value::Null,
        false => json!({"requirements": requirements}),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{NoAnswer, persistently};

    /// How often somebody was asked, for how long, and what came of it, when the given attempts
    /// fail.
    async fn asked(failures: usize, failure: &NoAnswer) -> (usize, Duration, Result<(), NoAnswer>) {
        let (count, start) = (Cell::new(0), Instant::now());
        let answer = persistently(|| {
            count.set(count.get() + 1);
            let answer = match count.get() > failures {
                true => Ok(()),
                false => Err(failure.clone()),
            };
            std::future::ready(answer)
        });
        let answer = answer.await;
        (count.get(), start.elapsed(), answer)
    }

    #[tokio::test(start_paused = true)]
    async fn who_fails_for_the_moment_is_asked_five_times_with_growing_pauses() {
        let busy = NoAnswer::passing("busy".to_owned());
        let millis = |time: Duration| time.as_millis();
        let (count, time, answer) = asked(2, &busy).await;
        assert_eq!((count, millis(time), answer), (3, 1250, Ok(())));
        let (count, time, answer) = asked(9, &busy).await;
        // The timer counts in whole milliseconds, upwards.
        assert!((4062..=4064).contains(&millis(time)), "{time:?}");
        assert_eq!((count, answer), (5, Err(busy)));
    }

    #[tokio::test(start_paused = true)]
    async fn who_cannot_answer_is_asked_once() {
        let gone = NoAnswer::lasting("connection refused".to_owned());
        let (count, time, answer) = asked(1, &gone).await;
        assert_eq!((count, time, answer), (1, Duration::ZERO, Err(gone)));
    }
}
