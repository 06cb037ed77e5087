//! Admission webhooks: MutatingWebhookConfigurations and ValidatingWebhookConfigurations
//! (`k8s.io/apiserver/pkg/admission/plugin/webhook`).
//!
//! `hook` reads the stored configurations, `relevant` finds the webhooks for a request, `review`
//! builds the AdmissionReview and checks the response, `invoke` calls a webhook. `validate` calls
//! all of them at once, `mutate` one after another.

mod hook;
mod invoke;
mod mutate;
mod patch;
mod relevant;
mod review;
mod validate;
mod webhooks;

pub(super) use webhooks::Webhooks;
