//! The kinds of the group admissionregistration.k8s.io.

mod client_config;
mod expressions;
mod match_conditions;
mod match_resources;
mod mutating_admission_policy;
mod mutating_admission_policy_binding;
mod mutating_webhook_configuration;
mod policy;
mod policy_binding;
mod reserved_name;
mod rules;
mod unsupported_policy;
mod validating_admission_policy;
mod validating_admission_policy_binding;
mod validating_webhook_configuration;
mod webhook;

pub use client_config::client_causes;
pub use expressions::Expressions;
pub use match_conditions::{condition_causes, unsupported_condition};
pub use mutating_admission_policy::MUTATING_ADMISSION_POLICY;
pub use mutating_admission_policy_binding::MUTATING_ADMISSION_POLICY_BINDING;
pub use mutating_webhook_configuration::MUTATING_WEBHOOK_CONFIGURATION;
pub use rules::{check_rule, one_of};
pub use validating_admission_policy::VALIDATING_ADMISSION_POLICY;
pub use validating_admission_policy_binding::VALIDATING_ADMISSION_POLICY_BINDING;
pub use validating_webhook_configuration::VALIDATING_WEBHOOK_CONFIGURATION;
pub use webhook::check_selector;
