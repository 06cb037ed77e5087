//! The authorization webhook: SubjectAccessReviews that another process decides.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubewright_core::{FieldSelector, LabelOperator, LabelSelector};
use kubewright_kinds::authorization::SUBJECT_ACCESS_REVIEW;
use kubewright_wire::review::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
    SubjectAccessReviewStatus,
};
use kubewright_wire::route::{Query, ResourceRoute};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::attributes::{AccessAttributes, AccessTarget};
use super::rbac::Decision;
use super::webhook_cache::WebhookCache;
use crate::webhook_client::{CallError, ClientConfig, ResponseFormat, WebhookCall, WebhookClient};

/// A webhook that authorizes requests before RBAC does. A real API server reads such a webhook from
/// `--authorization-config`. A call that fails with a transient error is tried five times within
/// four seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationWebhook {
    /// Its URL.
    pub url: String,
    /// The certificate authorities (PEM) that it is verified with.
    pub ca_pem: String,
    /// The timeout of one call.
    pub timeout: Duration,
    /// What happens when it cannot be called.
    pub on_failure: AuthorizationFailure,
    /// How long its responses are cached.
    pub ttl: CacheTtl,
}

/// How long the responses of an authorization webhook are cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheTtl {
    /// Responses that allow.
    pub allowed: Duration,
    /// All other responses.
    pub others: Duration,
}

impl CacheTtl {
    /// Nothing is cached.
    pub const NONE: Self = Self {
        allowed: Duration::ZERO,
        others: Duration::ZERO,
    };
}

/// As in Kubernetes: five minutes for responses that allow, half a minute for the others.
impl Default for CacheTtl {
    fn default() -> Self {
        Self {
            allowed: Duration::from_mins(5),
            others: Duration::from_secs(30),
        }
    }
}

/// The retries of a call that fails with a transient error (`DefaultAuthWebhookRetryBackoff`). A
/// single server needs no jitter.
const MAX_ATTEMPTS: usize = 5;
const FIRST_DELAY: Duration = Duration::from_millis(500);
const DELAY_FACTOR: f64 = 1.5;
/// Longer reviews are not cached.
const MAX_KEY_BYTES: usize = 10_000;

/// What happens to a request when the authorization webhook cannot be called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuthorizationFailure {
    /// RBAC decides.
    #[default]
    NoOpinion,
    /// It is denied.
    Deny,
}

const CONTRADICTORY: &str = "webhook subject access review returned both allow and deny response";

/// The decision of the webhook, if it has one, or its error.
pub(super) struct Opinion {
    status: SubjectAccessReviewStatus,
    error: Option<String>,
}

/// The decision of webhook and RBAC together.
pub(super) struct CombinedDecision {
    pub(super) decision: Decision,
    /// Whether the webhook denied explicitly.
    pub(super) is_denied: bool,
    pub(super) error: Option<String>,
}

impl AuthorizationWebhook {
    /// The opinion of the webhook, from the cache where it is still valid.
    pub(super) async fn review(
        &self,
        webhooks: &WebhookClient,
        cache: &WebhookCache,
        spec: SubjectAccessReviewSpec,
    ) -> Opinion {
        let written = serde_json::to_string(&spec).expect("a review is written to JSON");
        let key = Some(written).filter(|key| key.len() < MAX_KEY_BYTES);
        if let Some(status) = key.as_deref().and_then(|key| cache.get(key)) {
            return Opinion::of(status);
        }
        match retry(|| self.call(webhooks, &spec)).await {
            Ok(status) => {
                let ttl = if status.allowed {
                    self.ttl.allowed
                } else {
                    self.ttl.others
                };
                if let Some(key) = key
                    && !ttl.is_zero()
                {
                    cache.insert(key, status.clone(), ttl);
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

    async fn call(
        &self,
        webhooks: &WebhookClient,
        spec: &SubjectAccessReviewSpec,
    ) -> Result<SubjectAccessReviewStatus, CallError> {
        let client = ClientConfig::read(&json!({
            "url": self.url, "caBundle": STANDARD.encode(&self.ca_pem),
        }));
        let call = WebhookCall {
            url: format!("{}?timeout={}s", self.url, self.timeout.as_secs()),
            client: &client,
            timeout: self.timeout,
            response: ResponseFormat::Json,
        };
        let kind = SUBJECT_ACCESS_REVIEW.in_version("v1");
        let review = SubjectAccessReview {
            api_version: kind.api_version(),
            kind: kind.kind,
            spec: spec.clone(),
            ..SubjectAccessReview::default()
        };
        let reviewed: SubjectAccessReview = webhooks.call(&call, &review).await?;
        Ok(reviewed.status)
    }
}

/// Calls until success, a permanent error, or the last attempt.
async fn retry<A, Fut>(attempt: impl Fn() -> Fut) -> Result<A, CallError>
where
    Fut: Future<Output = Result<A, CallError>>,
{
    let mut delay = FIRST_DELAY;
    for _ in 1..MAX_ATTEMPTS {
        match attempt().await {
            Err(error) if error.is_retryable => {}
            result => return result,
        }
        sleep(delay).await;
        delay = delay.mul_f64(DELAY_FACTOR);
    }
    attempt().await
}

impl Opinion {
    fn of(status: SubjectAccessReviewStatus) -> Self {
        let is_contradictory = status.allowed && status.denied;
        Self {
            error: is_contradictory.then(|| CONTRADICTORY.to_owned()),
            status: SubjectAccessReviewStatus {
                allowed: status.allowed && !is_contradictory,
                ..status
            },
        }
    }

    /// The decision of the webhook, or that of RBAC if the webhook has none.
    pub(super) fn or(self, by_roles: impl FnOnce() -> Decision) -> CombinedDecision {
        let Self { status, error } = self;
        if status.allowed || status.denied {
            return CombinedDecision {
                decision: Decision {
                    is_allowed: !status.denied,
                    reason: status.reason,
                },
                is_denied: status.denied,
                error,
            };
        }
        let mut decision = by_roles();
        if !decision.is_allowed {
            let reasons: Vec<String> = [status.reason, decision.reason]
                .into_iter()
                .filter(|reason| !reason.is_empty())
                .collect();
            decision.reason = reasons.join("\n");
        }
        CombinedDecision {
            decision,
            is_denied: false,
            error,
        }
    }
}

/// The spec of the SubjectAccessReview of a request.
pub(super) fn review_spec(
    attributes: &AccessAttributes<'_>,
    request: Option<(&ResourceRoute, &Query)>,
) -> SubjectAccessReviewSpec {
    let user = attributes.user;
    let mut spec = SubjectAccessReviewSpec {
        user: user.name.clone(),
        groups: user.groups.clone(),
        uid: user.uid.clone(),
        extra: user.extra.clone(),
        ..SubjectAccessReviewSpec::default()
    };
    match attributes.target {
        AccessTarget::Path(path) => {
            spec.non_resource_attributes = Some(NonResourceAttributes {
                path: path.to_owned(),
                verb: attributes.verb.to_owned(),
            });
        }
        AccessTarget::Resource(resource) => {
            let mut sent = ResourceAttributes {
                namespace: resource.namespace.to_owned(),
                verb: attributes.verb.to_owned(),
                group: resource.group.to_owned(),
                resource: resource.plural.to_owned(),
                subresource: resource.subresource.to_owned(),
                name: resource.name.to_owned(),
                ..ResourceAttributes::default()
            };
            if let Some((route, query)) = request {
                sent.version.clone_from(&route.version);
                sent.label_selector = labels(query);
                sent.field_selector = fields(query);
            }
            spec.resource_attributes = Some(sent);
        }
    }
    spec
}

/// The label selector of a list. An invalid selector is left out here, and fails the request later.
fn labels(query: &Query) -> Value {
    let parameter = query.get("labelSelector").unwrap_or_default();
    let selector: LabelSelector = parameter.parse().unwrap_or_default();
    let operator_and_values = |operator: &LabelOperator| match operator {
        LabelOperator::In(values) => Some(("In", Some(values.clone()))),
        LabelOperator::NotIn(values) => Some(("NotIn", Some(values.clone()))),
        LabelOperator::Exists => Some(("Exists", None)),
        LabelOperator::DoesNotExist => Some(("DoesNotExist", None)),
        LabelOperator::GreaterThan(_) | LabelOperator::LessThan(_) => None,
    };
    let mut sorted: Vec<_> = selector.requirements.iter().collect();
    sorted.sort_by_key(|requirement| &requirement.key);
    let requirements = sorted.into_iter().filter_map(|requirement| {
        let (operator, values) = operator_and_values(&requirement.operator)?;
        let mut value = json!({"key": requirement.key, "operator": operator});
        if let Some(values) = values {
            value["values"] = json!(values);
        }
        Some(value)
    });
    selector_value(requirements.collect())
}

fn fields(query: &Query) -> Value {
    let parameter = query.get("fieldSelector").unwrap_or_default();
    let selector: FieldSelector = parameter.parse().unwrap_or_default();
    let requirements = selector.requirements.iter().map(|requirement| {
        let operator = if requirement.equal { "In" } else { "NotIn" };
        json!({"key": requirement.path, "operator": operator, "values": [requirement.value]})
    });
    selector_value(requirements.collect())
}

fn selector_value(requirements: Vec<Value>) -> Value {
    if requirements.is_empty() {
        return Value::Null;
    }
    json!({"requirements": requirements})
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{CallError, retry};

    /// The number of calls, their duration and the result, when the first attempts fail.
    async fn call(failures: usize, error: &CallError) -> (usize, Duration, Result<(), CallError>) {
        let (count, start) = (Cell::new(0), Instant::now());
        let result = retry(|| {
            count.set(count.get() + 1);
            let is_failure = count.get() <= failures;
            std::future::ready(if is_failure {
                Err(error.clone())
            } else {
                Ok(())
            })
        })
        .await;
        (count.get(), start.elapsed(), result)
    }

    #[tokio::test(start_paused = true)]
    async fn transient_error_is_retried_four_times_with_growing_delays() {
        let busy = CallError::transient("busy".to_owned());
        let millis = |time: Duration| time.as_millis();
        let (count, time, result) = call(2, &busy).await;
        assert_eq!((count, millis(time), result), (3, 1250, Ok(())));
        let (count, time, result) = call(9, &busy).await;
        // The timer counts in whole milliseconds, upwards.
        assert!((4062..=4064).contains(&millis(time)), "{time:?}");
        assert_eq!((count, result), (5, Err(busy)));
    }

    #[tokio::test(start_paused = true)]
    async fn permanent_error_is_not_retried() {
        let gone = CallError::permanent("connection refused".to_owned());
        let (count, time, result) = call(1, &gone).await;
        assert_eq!((count, time, result), (1, Duration::ZERO, Err(gone)));
    }
}
