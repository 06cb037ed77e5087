//! The authorizer of the server: a webhook first, where one is configured, then RBAC.

use http::HeaderMap;
use kubewright_kinds::json::text;
use kubewright_wire::review::SubjectAccessReviewStatus;
use kubewright_wire::route::{Query, ResourceRoute};
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::attributes::AccessAttributes;
use super::forbidden::forbidden;
use super::grant::Grant;
use super::impersonation::Impersonation;
use super::rbac::Decision;
use super::rbac_cache::RbacCache;
use super::review::{Review, ReviewRequest, Reviewed, review_access};
use super::rules_review::review_rules;
use super::webhook::{AuthorizationWebhook, review_spec};
use super::webhook_cache::WebhookCache;
use crate::authentication::{MASTERS, User};
use crate::store::{Store, timestamp};
use crate::webhook_client::WebhookClient;

/// Authorizes requests over the stored roles and bindings.
#[derive(Debug)]
pub(crate) struct Authorizer {
    rbac: RbacCache,
    webhook: Option<AuthorizationWebhook>,
    responses: WebhookCache,
    webhooks: WebhookClient,
}

/// Why a request is not authorized.
#[derive(Debug)]
pub(crate) enum Denied {
    /// 403.
    Forbidden(Box<Status>),
    /// The webhook failed and RBAC does not allow the request; the response is plain text.
    Failed(String),
}

impl Authorizer {
    pub(crate) fn new(
        store: Store,
        webhook: Option<AuthorizationWebhook>,
        webhooks: WebhookClient,
    ) -> Self {
        Self {
            rbac: RbacCache::new(store),
            webhook,
            responses: WebhookCache::default(),
            webhooks,
        }
    }

    /// The webhook that is called before RBAC.
    pub(crate) fn webhook(&self) -> Option<&AuthorizationWebhook> {
        self.webhook.as_ref()
    }

    /// The user that a request impersonates, or its sender; 403 when the sender is not allowed to
    /// impersonate that user.
    pub(crate) fn impersonate(
        &self,
        headers: &HeaderMap,
        attributes: &AccessAttributes<'_>,
    ) -> Result<User, Status> {
        match Impersonation::from_headers(headers)? {
            None => Ok(attributes.user.clone()),
            Some(wanted) => wanted.check(attributes, &self.rbac.current()),
        }
    }

    /// Whether the user is allowed to do what the attributes describe. `request` holds the
    /// selectors of a list, which webhooks see.
    pub(crate) async fn authorize(
        &self,
        attributes: &AccessAttributes<'_>,
        request: Option<(&ResourceRoute, &Query)>,
    ) -> Result<(), Denied> {
        let by_roles = || self.decide(attributes);
        let webhook = self
            .webhook
            .as_ref()
            .filter(|_| !attributes.user.is_master());
        let (decision, error) = match webhook {
            None => (by_roles(), None),
            Some(webhook) => {
                let spec = review_spec(attributes, request);
                let opinion = webhook.review(&self.webhooks, &self.responses, spec).await;
                let verdict = opinion.or(by_roles);
                (verdict.decision, verdict.error)
            }
        };
        if decision.is_allowed {
            return Ok(());
        }
        Err(match error {
            Some(error) => Denied::Failed(error),
            None => Denied::Forbidden(Box::new(forbidden(attributes, &decision.reason))),
        })
    }

    /// The decision of RBAC.
    fn decide(&self, attributes: &AccessAttributes<'_>) -> Decision {
        // Roles only grant, so that none needs to be read.
        if attributes.user.is_master() {
            return Decision {
                is_allowed: true,
                reason: String::new(),
            };
        }
        self.rbac.current().decide(attributes)
    }

    /// Whether the user is allowed to write a role or binding with these permissions; 403 if not.
    pub(crate) fn check_grant(&self, grant: &Grant<'_>) -> Result<(), Status> {
        grant.check(&self.rbac)
    }

    /// Fills in an access review. The authenticator fills in TokenReviews.
    pub(crate) async fn review(&self, request: ReviewRequest<'_>) -> Result<Value, Status> {
        let rbac = self.rbac.current();
        let ReviewRequest {
            review, user, now, ..
        } = request;
        if review == Review::SelfSubjectRules {
            let reviewed = review_rules(user, &request.body, &rbac)?;
            return Ok(self.mark_incomplete(reviewed));
        }
        let mut reviewed = review_access(request, |attributes| rbac.decide(attributes))?;
        if review == Review::SelfSubject {
            // As in Kubernetes, the response does not repeat the metadata of the request.
            reviewed.body["metadata"] = json!({"creationTimestamp": timestamp(now)});
        }
        Ok(self.review_by_webhook(reviewed).await)
    }

    /// Marks the rules of a user as incomplete if a webhook can grant more.
    fn mark_incomplete(&self, mut review: Value) -> Value {
        if self.webhook.is_some() {
            review["status"]["incomplete"] = json!(true);
            review["status"]["evaluationError"] =
                json!("webhook authorizer does not support user rule resolution");
        }
        review
    }

    /// Replaces the status that RBAC gave a review with that of the webhook, if it has one.
    async fn review_by_webhook(&self, reviewed: Reviewed) -> Value {
        let Reviewed {
            body: mut review,
            spec,
        } = reviewed;
        let (Some(webhook), Some(spec)) = (&self.webhook, spec) else {
            return review;
        };
        if spec.groups.iter().any(|group| group == MASTERS) {
            return review;
        }
        let by_roles = || Decision {
            is_allowed: review["status"]["allowed"] == true,
            reason: text(&review["status"]["reason"]).to_owned(),
        };
        let opinion = webhook.review(&self.webhooks, &self.responses, spec).await;
        let verdict = opinion.or(by_roles);
        let status = SubjectAccessReviewStatus {
            allowed: verdict.decision.is_allowed,
            denied: verdict.is_denied,
            reason: verdict.decision.reason,
            evaluation_error: verdict.error.unwrap_or_default(),
        };
        review["status"] = serde_json::to_value(status).expect("a status is written to JSON");
        review
    }
}
