//! Admission by webhooks: which are asked about a request, how, and what becomes of their answers
//! (`k8s.io/apiserver/pkg/admission/plugin/webhook`).
//!
//! `configuration` reads what is stored, `asked` says who is asked, `review` makes the question
//! and checks the answer, `call` carries them over `connections`, `validate` asks all at once and
//! `mutate` one after another.

mod ask;
mod asked;
mod call;
mod configuration;
mod connect;
mod connections;
mod endpoints;
mod mutate;
mod no_answer;
mod patch;
mod review;
mod rules;
mod service;
mod validate;

pub(crate) use call::{AnswerForm, Question, call};
pub(crate) use configuration::{ClientConfig, Hook, is_used};
pub(crate) use connections::Connections;
pub use endpoints::{WebhookConnector, WebhookEndpoint, WebhookEndpoints};
pub(crate) use mutate::MutatingHooks;
pub(crate) use no_answer::NoAnswer;
pub(crate) use rules::{client_causes, configuration_causes, configuration_refusal};
pub(crate) use validate::validate;
