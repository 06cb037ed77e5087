//! Handlers of validating webhooks, whose findings become the response.

use std::sync::Arc;

use kubewright_core::{Kind, Operation};
use kubewright_webhook::review::{AdmissionRequest, AdmissionResponse};
use kubewright_wire::status::Status;

use super::admission::Admission;
use super::change::Change;
use super::denied::Denied;
use super::findings::Findings;
use super::request_object::{Handler, decode, is_only_finalizing};
use crate::kinds::AnyKind;

/// Returns a handler that calls a function that validates a change.
pub(super) fn validator<K: AnyKind>(
    kind: Kind,
    check: impl Fn(&Change<K>, &mut Findings) + Send + Sync + 'static,
) -> Handler {
    let (kind, check) = (Arc::new(kind), Arc::new(check));
    Arc::new(move |request, _| {
        let (kind, check) = (Arc::clone(&kind), Arc::clone(&check));
        Box::pin(async move {
            if is_only_finalizing(&request) {
                return AdmissionResponse::allowed();
            }
            let change = match change::<K>(&request) {
                Ok(change) => change,
                Err(status) => return AdmissionResponse::denied(status),
            };
            let mut findings = Findings::default();
            check(&change, &mut findings);
            response(&kind, &request, findings)
        })
    })
}

/// Returns a handler that calls a function that validates a change and can read the cache.
pub(super) fn async_validator<K, F, Fut>(kind: Kind, validate: F) -> Handler
where
    K: AnyKind,
    F: Fn(Change<K>, Admission) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Findings, Denied>> + Send + 'static,
{
    let (kind, validate) = (Arc::new(kind), Arc::new(validate));
    Arc::new(move |request, environment| {
        let (kind, validate) = (Arc::clone(&kind), Arc::clone(&validate));
        Box::pin(async move {
            if is_only_finalizing(&request) {
                return AdmissionResponse::allowed();
            }
            let change = match change::<K>(&request) {
                Ok(change) => change,
                Err(status) => return AdmissionResponse::denied(status),
            };
            let request = Arc::new(request);
            let cx = Admission::new(Arc::clone(&request), environment);
            let mut response = match validate(change, cx.clone()).await {
                Ok(findings) => response(&kind, &request, findings),
                Err(denied) => AdmissionResponse::denied(denied.into_status()),
            };
            response.warnings.extend(cx.take_warnings());
            response
        })
    })
}

/// Returns the response for the findings: 422 with all errors, if there are any.
fn response(kind: &Kind, request: &AdmissionRequest, findings: Findings) -> AdmissionResponse {
    let mut response = if findings.is_valid() {
        AdmissionResponse::allowed()
    } else {
        AdmissionResponse::denied(Status::invalid(kind, name_of(request), findings.causes))
    };
    response.warnings = findings.warnings;
    response
}

fn change<K: AnyKind>(request: &AdmissionRequest) -> Result<Change<K>, Status> {
    Ok(match request.operation {
        Operation::Delete => Change::Delete(decode(&request.old_object)?),
        Operation::Update => Change::Update {
            old: decode(&request.old_object)?,
            new: decode(&request.object)?,
        },
        Operation::Create => Change::Create(decode(&request.object)?),
        Operation::Connect => Change::Connect(request.object.clone()),
    })
}

fn name_of(request: &AdmissionRequest) -> &str {
    match request.name.as_str() {
        "" => {
            let name = request.object["metadata"]["name"].as_str();
            name.unwrap_or_default()
        }
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kubewright_core::{Kind, Operation};
    use kubewright_webhook::review::{AdmissionRequest, AdmissionResponse};
    use serde_json::{Value, json};

    use super::{Handler, async_validator, validator};
    use crate::webhook::environment::HandlerEnvironment;
    use crate::webhook::mutating_handler::{defaulter, mutator};
    use crate::webhook::{Admission, Change, Denied, Findings};

    /// The objects of a request.
    struct Objects {
        old: Value,
        new: Value,
    }

    async fn response(
        handler: Handler,
        operation: Operation,
        objects: Objects,
    ) -> AdmissionResponse {
        let request = AdmissionRequest {
            operation,
            object: objects.new,
            old_object: objects.old,
            ..AdmissionRequest::default()
        };
        handler(request, HandlerEnvironment::default()).await
    }

    async fn create(handler: Handler, new: Value) -> AdmissionResponse {
        let old = Value::Null;
        response(handler, Operation::Create, Objects { old, new }).await
    }

    async fn update(handler: Handler, old: &Value, new: &Value) -> AdmissionResponse {
        let (old, new) = (old.clone(), new.clone());
        response(handler, Operation::Update, Objects { old, new }).await
    }

    fn config(data: Value) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "newer": 1},
            "data": data,
        })
    }

    fn check(change: &Change<ConfigMap>, findings: &mut Findings) {
        let data = change
            .object()
            .and_then(|map| map.data.clone())
            .unwrap_or_default();
        if data.is_empty() {
            findings.required("data", "add a key");
            findings.invalid("data", json!({}), "is empty");
        }
        findings.warn("seen");
    }

    fn checks() -> Handler {
        validator(Kind::new("", "v1", "ConfigMap"), check)
    }

    #[tokio::test]
    async fn all_errors_are_in_one_response_as_from_the_api_server() {
        let response = create(checks(), config(json!({}))).await;
        assert_eq!(response.warnings, ["seen"]);
        let status = response.status.unwrap();
        assert_eq!(status.code, 422);
        assert_eq!(
            status.message,
            "ConfigMap \"c\" is invalid: [data: Required value: add a key, data: Invalid value: \
             {}: is empty]"
        );
        assert_eq!(status.details.unwrap().causes.len(), 2);
    }

    #[tokio::test]
    async fn finalizer_can_be_removed_from_an_invalid_object() {
        let mut old = config(json!({}));
        old["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        old["metadata"]["finalizers"] = json!(["a.b/c"]);
        let mut new = old.clone();
        new["metadata"]["finalizers"] = json!([]);
        assert!(update(checks(), &old, &new).await.allowed);
        new["data"] = json!(null);
        assert!(!update(checks(), &old, &new).await.allowed);
    }

    /// An object of an earlier version of its kind, for example.
    #[tokio::test]
    async fn finalizer_can_be_removed_from_an_object_that_does_not_decode() {
        async fn same(map: ConfigMap, _: Admission) -> Result<ConfigMap, Denied> {
            Ok(map)
        }
        async fn validate(_: Change<ConfigMap>, _: Admission) -> Result<Findings, Denied> {
            Ok(Findings::default())
        }
        let mut old = config(json!(7));
        old["metadata"]["finalizers"] = json!(["a.b/c"]);
        let mut new = old.clone();
        new["metadata"]["finalizers"] = json!([]);
        let kind = || Kind::new("", "v1", "ConfigMap");
        let handlers = || {
            [
                defaulter(|map: &mut ConfigMap| map.immutable = Some(true)),
                mutator(same),
                validator(kind(), check),
                async_validator(kind(), validate),
            ]
        };
        for handler in handlers() {
            let response = update(handler, &old, &new).await;
            assert_eq!(response.status.map(|status| status.code), Some(400));
        }
        old["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        new["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        for handler in handlers() {
            let response = update(handler, &old, &new).await;
            assert_eq!(response, AdmissionResponse::allowed());
        }
    }

    #[tokio::test]
    async fn connection_is_validated_by_its_options() {
        fn check_tty(change: &Change<ConfigMap>, findings: &mut Findings) {
            assert!(change.object().is_none() && change.old().is_none());
            if let Change::Connect(options) = change
                && options["tty"] == true
            {
                findings.forbidden("tty", "no terminals");
            }
        }
        for (options, allowed) in [
            (json!({"kind": "PodExecOptions", "command": ["ls"]}), true),
            (json!({"kind": "PodExecOptions", "tty": true}), false),
        ] {
            let handler = validator(Kind::new("", "v1", "ConfigMap"), check_tty);
            let objects = Objects {
                old: Value::Null,
                new: options,
            };
            let response = response(handler, Operation::Connect, objects).await;
            assert_eq!(response.allowed, allowed, "{response:?}");
        }
    }

    #[tokio::test]
    async fn async_validation_returns_findings_or_fails() {
        async fn validate(change: Change<ConfigMap>, cx: Admission) -> Result<Findings, Denied> {
            cx.warn("checked");
            let data = change.object().and_then(|map| map.data.clone());
            let number = data.and_then(|data| data.get("number").cloned());
            let number: i32 = number.unwrap_or_default().parse()?;
            let mut findings = Findings::default();
            if number < 0 {
                findings.invalid("data.number", number, "is negative");
            }
            Ok(findings)
        }
        for (number, code) in [("1", None), ("-1", Some(422)), ("x", Some(500))] {
            let handler = async_validator(Kind::new("", "v1", "ConfigMap"), validate);
            let response = create(handler, config(json!({"number": number}))).await;
            assert_eq!(response.warnings, ["checked"]);
            assert_eq!(response.status.map(|status| status.code), code, "{number}");
        }
    }
}
