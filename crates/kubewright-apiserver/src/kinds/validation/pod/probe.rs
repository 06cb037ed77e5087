use serde_json::json;

use super::super::formats::{header_name, port_name, port_number};
use super::super::{At, Findings};
use super::Around;

/// The three probes of a container.
pub(super) fn probes(container: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let at = container.field(name);
        if !at.is_set() {
            continue;
        }
        probe(at, around, findings);
        let threshold = at.field("successThreshold");
        let grace = at.field("terminationGracePeriodSeconds");
        match name {
            "readinessProbe" if grace.is_set() => {
                findings.invalid(grace, "must not be set for readinessProbes");
            }
            "livenessProbe" | "startupProbe" if threshold.number() != Some(1) => {
                findings.invalid(threshold, "must be 1");
            }
            _ => {}
        }
    }
}

fn probe(at: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    handler(
        at,
        &["exec", "httpGet", "tcpSocket", "grpc"],
        around,
        findings,
    );
    for field in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        findings.non_negative(at.field(field));
    }
    let grace = at.field("terminationGracePeriodSeconds");
    if grace.number().is_some_and(|seconds| seconds <= 0) {
        findings.invalid(grace, "must be greater than 0");
    }
}

/// `validateLifecycle`.
pub(super) fn lifecycle(at: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    let kinds = ["exec", "httpGet", "tcpSocket", "sleep"];
    for moment in ["postStart", "preStop"] {
        if at.has(moment) {
            handler(at.field(moment), &kinds, around, findings);
        }
    }
    let signal = at.field("stopSignal");
    if signal.is_set() && around.system.is_empty() {
        let detail = "may not be set for containers with empty `spec.os.name`";
        findings.forbidden(signal, detail);
    }
}

/// `validateHandler`.
fn handler(at: At<'_>, kinds: &[&'static str], around: &Around<'_>, findings: &mut Findings) {
    let mut is_given = false;
    for kind in kinds {
        if !at.has(kind) {
            continue;
        }
        let action = at.field(kind);
        if is_given {
            findings.forbidden(action, "may not specify more than 1 handler type");
            continue;
        }
        is_given = true;
        act(kind, action, around, findings);
    }
    if !is_given {
        findings.required(at, "must specify a handler type");
    }
}

fn act(kind: &str, action: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    match kind {
        "exec" if action.field("command").is_empty() => {
            findings.required(action.field("command"), "");
        }
        "httpGet" => http_get(action, findings),
        "tcpSocket" | "grpc" => port(action.field("port"), findings),
        "sleep" => sleep(action, around, findings),
        _ => {}
    }
}

fn http_get(at: At<'_>, findings: &mut Findings) {
    if at.text_of("path").is_empty() {
        findings.required(at.field("path"), "");
    }
    port(at.field("port"), findings);
    let scheme = at.field("scheme");
    if !["HTTP", "HTTPS"].contains(&scheme.text()) {
        findings.unsupported(scheme, &["HTTP", "HTTPS"]);
    }
    let headers = at.field("httpHeaders");
    for header in headers.items() {
        let name = header.text_of("name");
        for problem in header_name(name) {
            findings.invalid_value(headers, &json!(name), &problem);
        }
    }
}

fn sleep(at: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    let seconds = at.field("seconds").number().unwrap_or(0);
    let Some(grace) = around.grace_period else {
        return;
    };
    if seconds < 0 || seconds > grace {
        let detail =
            format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        findings.invalid_value(at, &json!(seconds), &detail);
    }
}

/// `ValidatePortNumOrName`.
pub(in super::super) fn port(at: At<'_>, findings: &mut Findings) {
    match at.value().as_str() {
        Some(name) => findings.problems(at, port_name(name)),
        None => {
            let number = at.number().unwrap_or(0);
            for problem in port_number(number) {
                findings.invalid_value(at, &json!(number), &problem);
            }
        }
    }
}
