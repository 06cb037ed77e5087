//! Probes and lifecycle handlers.

use kubewright_core::format::header_name;
use serde_json::json;

use super::context::PodContext;
use super::port::validate_port;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;

/// The three probes of a container.
pub(super) fn probes(container: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let at = container.field(name);
        if !at.is_set() {
            continue;
        }
        probe(at, context, errors);
        let threshold = at.field("successThreshold");
        let grace = at.field("terminationGracePeriodSeconds");
        match name {
            "readinessProbe" if grace.is_set() => {
                errors.invalid(grace, "must not be set for readinessProbes");
            }
            "livenessProbe" | "startupProbe" if threshold.number() != Some(1) => {
                errors.invalid(threshold, "must be 1");
            }
            _ => {}
        }
    }
}

fn probe(at: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    handler(
        at,
        &["exec", "httpGet", "tcpSocket", "grpc"],
        context,
        errors,
    );
    for field in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        errors.non_negative(at.field(field));
    }
    let grace = at.field("terminationGracePeriodSeconds");
    if grace.number().is_some_and(|seconds| seconds <= 0) {
        errors.invalid(grace, "must be greater than 0");
    }
}

/// `validateLifecycle`.
pub(super) fn lifecycle(at: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    let kinds = ["exec", "httpGet", "tcpSocket", "sleep"];
    for moment in ["postStart", "preStop"] {
        if at.has(moment) {
            handler(at.field(moment), &kinds, context, errors);
        }
    }
    let signal = at.field("stopSignal");
    if signal.is_set() && context.system.is_empty() {
        let detail = "may not be set for containers with empty `spec.os.name`";
        errors.forbidden(signal, detail);
    }
}

/// `validateHandler`.
fn handler(
    at: FieldPath<'_>,
    kinds: &[&'static str],
    context: &PodContext<'_>,
    errors: &mut ErrorList,
) {
    let mut is_given = false;
    for kind in kinds {
        if !at.has(kind) {
            continue;
        }
        let action = at.field(kind);
        if is_given {
            errors.forbidden(action, "may not specify more than 1 handler type");
            continue;
        }
        is_given = true;
        act(kind, action, context, errors);
    }
    if !is_given {
        errors.required(at, "must specify a handler type");
    }
}

fn act(kind: &str, action: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    match kind {
        "exec" if action.field("command").is_empty() => {
            errors.required(action.field("command"), "");
        }
        "httpGet" => http_get(action, errors),
        "tcpSocket" | "grpc" => validate_port(action.field("port"), errors),
        "sleep" => sleep(action, context, errors),
        _ => {}
    }
}

fn http_get(at: FieldPath<'_>, errors: &mut ErrorList) {
    if at.text_of("path").is_empty() {
        errors.required(at.field("path"), "");
    }
    validate_port(at.field("port"), errors);
    let scheme = at.field("scheme");
    if !["HTTP", "HTTPS"].contains(&scheme.text()) {
        errors.unsupported(scheme, &["HTTP", "HTTPS"]);
    }
    let headers = at.field("httpHeaders");
    for header in headers.items() {
        let name = header.text_of("name");
        for problem in header_name(name) {
            errors.invalid_value(headers, &json!(name), &problem);
        }
    }
}

fn sleep(at: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    let seconds = at.field("seconds").number().unwrap_or(0);
    let Some(grace) = context.grace_period else {
        return;
    };
    if seconds < 0 || seconds > grace {
        let detail =
            format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        errors.invalid_value(at, &json!(seconds), &detail);
    }
}
