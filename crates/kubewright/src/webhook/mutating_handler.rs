//! Handlers of mutating webhooks: defaults and asynchronous mutations, whose result becomes a
//! patch.

use std::sync::Arc;

use kubewright_core::Operation;
use kubewright_webhook::patch::difference;
use kubewright_webhook::review::{AdmissionRequest, AdmissionResponse, PatchBytes};
use kubewright_wire::patch::rebase;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::admission::Admission;
use super::denied::Denied;
use super::environment::IdempotenceCheck;
use super::request_object::{Handler, decode, encode, is_only_finalizing};
use crate::kinds::AnyKind;

/// Returns a handler that calls a function that sets missing fields.
pub(super) fn defaulter<K: AnyKind>(fill_in: impl Fn(&mut K) + Send + Sync + 'static) -> Handler {
    let fill_in = Arc::new(fill_in);
    Arc::new(move |request, environment| {
        let fill_in = Arc::clone(&fill_in);
        Box::pin(async move {
            if is_only_finalizing(&request) {
                return AdmissionResponse::allowed();
            }
            let response = decode::<K>(&request.object).and_then(|mut object| {
                let before = encode(&object)?;
                fill_in(&mut object);
                let after = encode(&object)?;
                if environment.idempotence == IdempotenceCheck::On {
                    fill_in(&mut object);
                    check_idempotent(&after, &encode(&object)?)?;
                }
                patch(&request.object, &before, &after)
            });
            response.unwrap_or_else(AdmissionResponse::denied)
        })
    })
}

/// Returns a handler that calls a function that takes the object and returns it changed.
pub(super) fn mutator<K, F, Fut>(mutate: F) -> Handler
where
    K: AnyKind,
    F: Fn(K, Admission) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<K, Denied>> + Send + 'static,
{
    let mutate = Arc::new(mutate);
    Arc::new(move |request, environment| {
        let mutate = Arc::clone(&mutate);
        Box::pin(async move {
            if is_only_finalizing(&request) {
                return AdmissionResponse::allowed();
            }
            let request = Arc::new(request);
            let idempotence = environment.idempotence;
            let cx = Admission::new(Arc::clone(&request), environment);
            let mut response = mutated(&*mutate, &request, &cx, idempotence)
                .await
                .and_then(|mutated| mutated.response(&request))
                .unwrap_or_else(AdmissionResponse::denied);
            response.warnings = cx.take_warnings();
            response
        })
    })
}

/// An object before and after a mutation.
struct Mutated {
    before: Value,
    after: Value,
}

impl Mutated {
    fn response(&self, request: &AdmissionRequest) -> Result<AdmissionResponse, Status> {
        match request.operation {
            // A deletion stores nothing that a patch could change.
            Operation::Delete => Ok(AdmissionResponse::allowed()),
            _ => patch(object_of(request), &self.before, &self.after),
        }
    }
}

/// The object that a webhook mutates.
fn object_of(request: &AdmissionRequest) -> &Value {
    match request.operation {
        Operation::Delete => &request.old_object,
        _ => &request.object,
    }
}

async fn mutated<K, F, Fut>(
    mutate: &F,
    request: &AdmissionRequest,
    cx: &Admission,
    idempotence: IdempotenceCheck,
) -> Result<Mutated, Status>
where
    K: AnyKind,
    F: Fn(K, Admission) -> Fut,
    Fut: Future<Output = Result<K, Denied>>,
{
    let object = decode::<K>(object_of(request))?;
    let before = encode(&object)?;
    let mutated = mutate(object, cx.clone())
        .await
        .map_err(Denied::into_status)?;
    let after = encode(&mutated)?;
    if idempotence == IdempotenceCheck::On {
        let again = mutate(mutated, cx.clone())
            .await
            .map_err(Denied::into_status)?;
        check_idempotent(&after, &encode(&again)?)?;
    }
    Ok(Mutated { before, after })
}

/// Returns an error if a second call changed the result of the first: the API server may call a
/// webhook twice for one object.
fn check_idempotent(once: &Value, twice: &Value) -> Result<(), Status> {
    let operations = difference(once, twice);
    if operations.is_empty() {
        return Ok(());
    }
    Err(Status::internal(format!(
        "the webhook is not idempotent: called again with its own result, it changes that by {}; \
         make it check for existing values first",
        json!(operations)
    )))
}

/// Returns the response with the mutation as a patch of the object that was sent.
fn patch(raw: &Value, before: &Value, after: &Value) -> Result<AdmissionResponse, Status> {
    let operations = difference(raw, &rebase(raw, before, after));
    if operations.is_empty() {
        return Ok(AdmissionResponse::allowed());
    }
    let bytes = serde_json::to_vec(&json!(operations))
        .map_err(|error| Status::internal(format!("write the patch: {error}")))?;
    Ok(AdmissionResponse {
        patch: Some(PatchBytes(bytes)),
        patch_type: Some("JSONPatch".to_owned()),
        ..AdmissionResponse::allowed()
    })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kubewright_core::Operation;
    use kubewright_webhook::review::{AdmissionRequest, AdmissionResponse};
    use serde_json::{Value, json};

    use super::{Handler, defaulter, mutator};
    use crate::webhook::environment::{HandlerEnvironment, IdempotenceCheck};
    use crate::webhook::{Admission, Denied};

    async fn response(handler: Handler, operation: Operation, new: Value) -> AdmissionResponse {
        let request = AdmissionRequest {
            operation,
            object: new,
            ..AdmissionRequest::default()
        };
        handler(request, HandlerEnvironment::default()).await
    }

    fn config(data: Value) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "newer": 1},
            "data": data,
        })
    }

    fn fill_in(map: &mut ConfigMap) {
        let data = map.data.get_or_insert_default();
        data.entry("color".to_owned()).or_insert("blue".to_owned());
    }

    #[tokio::test]
    async fn default_is_one_patch_operation_and_unknown_fields_are_preserved() {
        let handler = || defaulter(fill_in);
        let new = config(json!({"size": "1"}));
        let patched = response(handler(), Operation::Create, new).await;
        let patch = String::from_utf8(patched.patch.unwrap().0).unwrap();
        assert_eq!(
            patch,
            r#"[{"op":"add","path":"/data/color","value":"blue"}]"#
        );
        let new = config(json!({"color": "red"}));
        let unchanged = response(handler(), Operation::Create, new).await;
        assert_eq!(unchanged, AdmissionResponse::allowed());
    }

    #[tokio::test]
    async fn object_that_does_not_decode_is_a_bad_request() {
        let new = config(json!(7));
        let response = response(defaulter(fill_in), Operation::Create, new).await;
        assert_eq!(response.status.map(|status| status.code), Some(400));
    }

    #[tokio::test]
    async fn idempotence_check_fails_a_mutation_that_is_not_idempotent() {
        async fn grow(mut map: ConfigMap, _: Admission) -> Result<ConfigMap, Denied> {
            let data = map.data.get_or_insert_default();
            data.insert(format!("n{}", data.len()), String::new());
            Ok(map)
        }
        for (idempotence, allowed) in [(IdempotenceCheck::Off, true), (IdempotenceCheck::On, false)]
        {
            let request = AdmissionRequest {
                object: config(json!({})),
                ..AdmissionRequest::default()
            };
            let mut environment = HandlerEnvironment::default();
            environment.idempotence = idempotence;
            let response = mutator(grow)(request, environment).await;
            assert_eq!(response.allowed, allowed, "{response:?}");
        }
        let mut environment = HandlerEnvironment::default();
        environment.idempotence = IdempotenceCheck::On;
        let request = AdmissionRequest {
            object: config(json!({})),
            ..AdmissionRequest::default()
        };
        assert!(defaulter(fill_in)(request, environment).await.allowed);
    }

    #[tokio::test]
    async fn mutation_can_deny_the_request_or_fail() {
        async fn deny(_: ConfigMap, cx: Admission) -> Result<ConfigMap, Denied> {
            cx.warn("careful");
            Err(Denied::because("not today"))
        }
        async fn fail(_: ConfigMap, _: Admission) -> Result<ConfigMap, Denied> {
            let number: i32 = "x".parse()?;
            Err(Denied::because(number.to_string()))
        }
        let new = || config(json!({"a": "b"}));
        let denied = response(mutator(deny), Operation::Create, new()).await;
        assert_eq!(denied.warnings, ["careful"]);
        let status = denied.status.unwrap();
        assert_eq!((status.code, status.message.as_str()), (403, "not today"));
        let failed = response(mutator(fail), Operation::Create, new()).await;
        assert_eq!(failed.status.unwrap().code, 500);
    }
}
