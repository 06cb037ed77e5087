use serde_json::{Value, json};

use super::labels::{SelectorValues, label_selector, selects};
use super::pod::template;
use super::{At, Findings};

/// `ValidateDeployment`, `ValidateDeploymentUpdate`.
pub(super) fn deployment(object: &Value, old: Option<&Value>, findings: &mut Findings) {
    let spec = At::top(object, "spec");
    findings.non_negative(spec.field("replicas"));
    selector_and_template(spec, findings);
    strategy(spec.field("strategy"), findings);
    findings.non_negative(spec.field("minReadySeconds"));
    findings.non_negative(spec.field("revisionHistoryLimit"));
    let deadline = spec.field("progressDeadlineSeconds");
    findings.non_negative(deadline);
    let ready = spec.field("minReadySeconds").number().unwrap_or(0);
    if deadline.number().is_some_and(|deadline| deadline <= ready) {
        findings.invalid(deadline, "must be greater than minReadySeconds");
    }
    if let Some(old) = old {
        findings.immutable(spec.field("selector"), &old["spec"]["selector"]);
    }
}

/// What a Deployment and a ReplicaSet select, and the Pods that they make.
pub(super) fn selector_and_template(spec: At<'_>, findings: &mut Findings) {
    let selector = spec.field("selector");
    let before = findings.count();
    match selector.is_set() {
        false => findings.required(selector, ""),
        true => {
            label_selector(selector, SelectorValues::Checked, findings);
            if selector.field("matchLabels").is_empty()
                && selector.field("matchExpressions").is_empty()
            {
                findings.invalid(selector, "empty selector is invalid for deployment");
            }
        }
    }
    let is_readable = findings.count() == before || selector.is_empty();
    match is_readable {
        true => replicas_template(spec, findings),
        false => findings.invalid(selector, "invalid label selector"),
    }
}

/// `ValidatePodTemplateSpecForReplicaSet`.
fn replicas_template(spec: At<'_>, findings: &mut Findings) {
    let place = spec.field("template");
    let selector = spec.field("selector");
    let metadata = place.field("metadata");
    let labels = metadata.field("labels");
    // No selector selects nothing, an empty one everything.
    let selects_all = selector.is_set() && selector.is_empty();
    let is_selected = selector.is_set() && selects(selector.value(), labels.value());
    if !selects_all && !is_selected {
        findings.invalid(labels, "`selector` does not match template `labels`");
    }
    template(place, findings);
    let pod = place.field("spec");
    let restart = pod.field("restartPolicy");
    if restart.text() != "Always" {
        findings.unsupported(restart, &["Always"]);
    }
    if pod.has("activeDeadlineSeconds") {
        let detail = "activeDeadlineSeconds in ReplicaSet is not Supported";
        findings.forbidden(pod.field("activeDeadlineSeconds"), detail);
    }
}

/// `ValidateDeploymentStrategy`.
fn strategy(at: At<'_>, findings: &mut Findings) {
    let update = at.field("rollingUpdate");
    match at.text_of("type") {
        "Recreate" if update.is_set() => {
            let detail = "may not be specified when strategy `type` is 'Recreate'";
            findings.forbidden(update, detail);
        }
        "Recreate" => {}
        "RollingUpdate" => rolling_update(update, findings),
        _ => {
            let known = ["Recreate", "RollingUpdate"];
            let names: Vec<String> = known.iter().map(|name| format!("{name:?}")).collect();
            let kind = kubewright_wire::status::CauseKind::FieldValueNotSupported;
            let shown = json!({"Type": at.text_of("type"), "RollingUpdate": update.value()});
            let detail = format!("supported values: {}", names.join(", "));
            findings.add(kubewright_wire::status::Cause::new(
                kind,
                &at.path(),
                Some(&shown),
                &detail,
            ));
        }
    }
}

/// `ValidateRollingUpdateDeployment`.
fn rolling_update(at: At<'_>, findings: &mut Findings) {
    let (unavailable, surge) = (at.field("maxUnavailable"), at.field("maxSurge"));
    count_or_percent(unavailable, findings);
    count_or_percent(surge, findings);
    if amount(unavailable) == 0 && amount(surge) == 0 {
        findings.invalid(unavailable, "may not be 0 when `maxSurge` is 0");
    }
    if is_over_all(unavailable) {
        findings.invalid(unavailable, "must not be greater than 100%");
    }
}

/// `IsNotMoreThan100Percent`.
pub(super) fn is_over_all(at: At<'_>) -> bool {
    at.value().is_string() && amount(at) > 100
}

/// `ValidatePositiveIntOrPercent`.
pub(super) fn count_or_percent(at: At<'_>, findings: &mut Findings) {
    const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending \
         '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
    match at.value().as_str() {
        Some(text) => {
            let digits = text.strip_suffix('%').unwrap_or_default();
            if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
                findings.invalid(at, PERCENT);
            }
        }
        None => findings.non_negative(at),
    }
}

fn amount(at: At<'_>) -> i64 {
    match at.value().as_str() {
        Some(text) => text
            .strip_suffix('%')
            .and_then(|digits| digits.parse().ok())
            .unwrap_or(0),
        None => at.number().unwrap_or(0),
    }
}
