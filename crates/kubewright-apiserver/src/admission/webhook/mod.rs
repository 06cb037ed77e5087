//! Admission by webhooks: which are asked about a request, how, and what becomes of their answers
//! (`k8s.io/apiserver/pkg/admission/plugin/webhook`).
//!
//! `configuration` reads what is stored, `matching` says who is asked, `review` makes the question
//! and checks the answer, `call` carries them, `dispatch` keeps the order.

mod attributes;
mod call;
mod configuration;
mod connect;
mod dispatch;
mod endpoints;
mod matching;
mod patch;
mod review;
mod rules;

pub(crate) use attributes::Attributes;
pub(crate) use call::{AnswerForm, Question, call};
pub(crate) use configuration::{ClientConfig, is_used};
pub(crate) use dispatch::{Between, mutate, validate};
pub use endpoints::{WebhookConnector, WebhookEndpoints};
pub(crate) use rules::{client_causes, configuration_causes, configuration_refusal};
