//! The conversion between versions.

use std::collections::BTreeSet;

use kubewright_wire::status::Cause;
use serde_json::Value;

use super::fields::one_of;
use crate::admissionregistration::client_causes;
use crate::json::text;
use kubewright_core::NameRule;

/// The errors of `spec.conversion`.
pub(super) fn check_conversion(conversion: &Value) -> Vec<Cause> {
    if conversion.is_null() {
        return Vec::new();
    }
    let mut causes = Vec::new();
    let strategy = &conversion["strategy"];
    causes.extend(one_of(
        "spec.conversion.strategy",
        strategy,
        &["None", "Webhook"],
    ));
    let webhook = conversion
        .get("webhook")
        .filter(|webhook| !webhook.is_null());
    let config = webhook.and_then(|webhook| webhook.get("clientConfig"));
    let reviews = webhook.and_then(|webhook| webhook["conversionReviewVersions"].as_array());
    const CONFIG: &str = "spec.conversion.webhookClientConfig";
    const REVIEWS: &str = "spec.conversion.conversionReviewVersions";
    if text(strategy) != "Webhook" {
        let detail = "should not be set when strategy is not set to Webhook";
        causes.extend(config.map(|_| Cause::forbidden(CONFIG, detail)));
        let has_reviews = reviews.is_some_and(|reviews| !reviews.is_empty());
        causes.extend(has_reviews.then(|| Cause::forbidden(REVIEWS, detail)));
        return causes;
    }
    match config {
        None => {
            let detail = "required when strategy is set to Webhook";
            causes.push(Cause::required(CONFIG, detail));
        }
        Some(config) => causes.extend(client_causes(config, CONFIG)),
    }
    causes.extend(check_reviews(reviews.map_or(&[], Vec::as_slice), REVIEWS));
    causes
}

fn check_reviews(versions: &[Value], path: &str) -> Vec<Cause> {
    if versions.is_empty() {
        return vec![Cause::required(path, "")];
    }
    let mut causes = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, version) in versions.iter().enumerate() {
        let path = format!("{path}[{index}]");
        if !seen.insert(version.to_string()) {
            causes.push(Cause::invalid(&path, version, "duplicate version"));
            continue;
        }
        for problem in NameRule::Dns1035.problems(text(version)) {
            causes.push(Cause::invalid(&path, version, &problem));
        }
    }
    let is_known = |version: &Value| matches!(text(version), "v1" | "v1beta1");
    if !versions.iter().any(is_known) {
        let detail = "must include at least one of v1, v1beta1";
        causes.push(Cause::invalid(
            path,
            &Value::Array(versions.to_vec()),
            detail,
        ));
    }
    causes
}
