use std::sync::Arc;

use futures_util::future::BoxFuture;
use kubewright_core::{Kind, Operation};
use kubewright_webhook::patch::difference;
use kubewright_webhook::review::{AdmissionRequest, AdmissionResponse, PatchBytes};
use kubewright_wire::patch::rebase;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::serving::{IdempotenceCheck, Reads};
use super::{Admission, Change, Denied, Findings};
use crate::controller::AnyKind;

/// A webhook's function, whatever its kind.
pub(super) type Handler =
    Arc<dyn Fn(AdmissionRequest, Reads) -> BoxFuture<'static, AdmissionResponse> + Send + Sync>;

/// Calls a function that fills in what is missing.
pub(super) fn defaulter<K: AnyKind>(fill_in: impl Fn(&mut K) + Send + Sync + 'static) -> Handler {
    let fill_in = Arc::new(fill_in);
    Arc::new(move |request, reads| {
        let fill_in = Arc::clone(&fill_in);
        Box::pin(async move {
            if is_only_finalizing(&request) {
                return AdmissionResponse::allowed();
            }
            let answered = read::<K>(&request.object).and_then(|mut object| {
                let before = written(&object)?;
                fill_in(&mut object);
                let after = written(&object)?;
                if reads.idempotence == IdempotenceCheck::On {
                    fill_in(&mut object);
                    check_repeated(&after, &written(&object)?)?;
                }
                patch(&request.object, &before, &after)
            });
            answered.unwrap_or_else(AdmissionResponse::denied)
        })
    })
}

/// Calls a function that takes the object and gives it back changed.
pub(super) fn mutator<K, F, Fut>(mutate: F) -> Handler
where
    K: AnyKind,
    F: Fn(K, Admission) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<K, Denied>> + Send + 'static,
{
    let mutate = Arc::new(mutate);
    Arc::new(move |request, reads| {
        let mutate = Arc::clone(&mutate);
        Box::pin(async move {
            if is_only_finalizing(&request) {
                return AdmissionResponse::allowed();
            }
            let request = Arc::new(request);
            let idempotence = reads.idempotence;
            let cx = Admission::new(Arc::clone(&request), reads);
            let mut response = mutated(&*mutate, &request, (cx.clone(), idempotence))
                .await
                .unwrap_or_else(AdmissionResponse::denied);
            response.warnings = cx.take_warnings();
            response
        })
    })
}

async fn mutated<K, F, Fut>(
    mutate: &F,
    request: &AdmissionRequest,
    (cx, idempotence): (Admission, IdempotenceCheck),
) -> Result<AdmissionResponse, Status>
where
    K: AnyKind,
    F: Fn(K, Admission) -> Fut,
    Fut: Future<Output = Result<K, Denied>>,
{
    let raw = match request.operation {
        Operation::Delete => &request.old_object,
        _ => &request.object,
    };
    let object = read::<K>(raw)?;
    let before = written(&object)?;
    let object = mutate(object, cx.clone()).await;
    let object = object.map_err(Denied::into_status)?;
    let after = written(&object)?;
    if idempotence == IdempotenceCheck::On {
        let again = mutate(object, cx).await.map_err(Denied::into_status)?;
        check_repeated(&after, &written(&again)?)?;
    }
    match request.operation {
        // Nothing is stored that could be changed.
        Operation::Delete => Ok(AdmissionResponse::allowed()),
        _ => patch(raw, &before, &after),
    }
}

/// Calls a function that judges a change.
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
            judged(&kind, &request, findings)
        })
    })
}

/// Calls a function that judges a change and may look at the cache.
pub(super) fn async_validator<K, F, Fut>(kind: Kind, examine: F) -> Handler
where
    K: AnyKind,
    F: Fn(Change<K>, Admission) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Findings, Denied>> + Send + 'static,
{
    let (kind, examine) = (Arc::new(kind), Arc::new(examine));
    Arc::new(move |request, reads| {
        let (kind, examine) = (Arc::clone(&kind), Arc::clone(&examine));
        Box::pin(async move {
            if is_only_finalizing(&request) {
                return AdmissionResponse::allowed();
            }
            let change = match change::<K>(&request) {
                Ok(change) => change,
                Err(status) => return AdmissionResponse::denied(status),
            };
            let request = Arc::new(request);
            let cx = Admission::new(Arc::clone(&request), reads);
            let mut response = match examine(change, cx.clone()).await {
                Ok(findings) => judged(&kind, &request, findings),
                Err(denied) => AdmissionResponse::denied(denied.into_status()),
            };
            response.warnings.extend(cx.take_warnings());
            response
        })
    })
}

/// The answer that findings make.
fn judged(kind: &Kind, request: &AdmissionRequest, findings: Findings) -> AdmissionResponse {
    let mut response = match findings.is_valid() {
        true => AdmissionResponse::allowed(),
        false => {
            AdmissionResponse::denied(Status::invalid(kind, name_of(request), findings.causes))
        }
    };
    response.warnings = findings.warnings;
    response
}

fn change<K: AnyKind>(request: &AdmissionRequest) -> Result<Change<K>, Status> {
    Ok(match request.operation {
        Operation::Delete => Change::Delete(read(&request.old_object)?),
        Operation::Update => Change::Update {
            old: read(&request.old_object)?,
            new: read(&request.object)?,
        },
        Operation::Create => Change::Create(read(&request.object)?),
        Operation::Connect => Change::Connect(request.object.clone()),
    })
}

/// Whether the object is going and only its metadata changes: whoever holds a finalizer must be
/// able to take it away, however broken the rest is. The API server does not even ask where it
/// knows the condition of [`NamedExpression::not_finalizing`](kubewright_core::NamedExpression).
fn is_only_finalizing(request: &AdmissionRequest) -> bool {
    let is_going = !request.old_object["metadata"]["deletionTimestamp"].is_null();
    let rest = |object: &Value| {
        let mut object = object.clone();
        if let Some(members) = object.as_object_mut() {
            members.remove("metadata");
        }
        object
    };
    request.operation == Operation::Update
        && is_going
        && rest(&request.old_object) == rest(&request.object)
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

fn read<K: AnyKind>(object: &Value) -> Result<K, Status> {
    K::deserialize(object).map_err(|error| {
        let kind = object["kind"].as_str().unwrap_or("object");
        Status::bad_request(format!("read the {kind}: {error}"))
    })
}

fn written<K: AnyKind>(object: &K) -> Result<Value, Status> {
    serde_json::to_value(object)
        .map_err(|error| Status::internal(format!("write what the webhook made: {error}")))
}

/// The API server may ask twice about one object, so a second call must change nothing.
fn check_repeated(once: &Value, twice: &Value) -> Result<(), Status> {
    let operations = difference(once, twice);
    if operations.is_empty() {
        return Ok(());
    }
    Err(Status::internal(format!(
        "the webhook is not idempotent: called again on what it made, it changes that by {}; let \
         it look first at what is there",
        json!(operations)
    )))
}

/// What the function did, as a patch for the object that was sent.
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
    use kubewright_core::{Kind, Operation};
    use kubewright_webhook::review::{AdmissionRequest, AdmissionResponse};
    use serde_json::{Value, json};

    use super::{Handler, async_validator, defaulter, mutator, validator};
    use crate::webhook::serving::{IdempotenceCheck, Reads};
    use crate::webhook::{Admission, Change, Denied, Findings};

    async fn asked(
        handler: Handler,
        operation: Operation,
        old: Value,
        new: Value,
    ) -> AdmissionResponse {
        let request = AdmissionRequest {
            operation,
            object: new,
            old_object: old,
            ..AdmissionRequest::default()
        };
        handler(request, Reads::default()).await
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
    async fn a_default_is_one_operation_and_an_unknown_field_stays() {
        let handler = || defaulter(fill_in);
        let new = config(json!({"size": "1"}));
        let response = asked(handler(), Operation::Create, Value::Null, new).await;
        let patch = String::from_utf8(response.patch.unwrap().0).unwrap();
        assert_eq!(
            patch,
            r#"[{"op":"add","path":"/data/color","value":"blue"}]"#
        );
        let new = config(json!({"color": "red"}));
        let response = asked(handler(), Operation::Create, Value::Null, new).await;
        assert_eq!(response, AdmissionResponse::allowed());
    }

    #[tokio::test]
    async fn an_object_that_does_not_decode_is_a_bad_request() {
        let new = config(json!(7));
        let response = asked(defaulter(fill_in), Operation::Create, Value::Null, new).await;
        assert_eq!(response.status.map(|status| status.code), Some(400));
    }

    fn check(change: &Change<ConfigMap>, findings: &mut Findings) {
        let data = change
            .object()
            .and_then(|map| map.data.clone())
            .unwrap_or_default();
        if data.is_empty() {
            findings.required("data", "say something");
            findings.invalid("data", json!({}), "is empty");
        }
        findings.warn("seen");
    }

    fn checks() -> Handler {
        validator(Kind::new("", "v1", "ConfigMap"), check)
    }

    #[tokio::test]
    async fn all_faults_are_answered_at_once_as_the_api_server_would() {
        let response = asked(checks(), Operation::Create, Value::Null, config(json!({}))).await;
        assert_eq!(response.warnings, ["seen"]);
        let status = response.status.unwrap();
        assert_eq!(status.code, 422);
        assert_eq!(
            status.message,
            "ConfigMap \"c\" is invalid: [data: Required value: say something, data: Invalid \
             value: {}: is empty]"
        );
        assert_eq!(status.details.unwrap().causes.len(), 2);
    }

    #[tokio::test]
    async fn a_finalizer_can_be_taken_from_an_object_that_is_broken() {
        let mut old = config(json!({}));
        old["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        old["metadata"]["finalizers"] = json!(["a.b/c"]);
        let mut new = old.clone();
        new["metadata"]["finalizers"] = json!([]);
        let response = asked(checks(), Operation::Update, old.clone(), new.clone()).await;
        assert!(response.allowed);
        new["data"] = json!(null);
        let response = asked(checks(), Operation::Update, old, new).await;
        assert!(!response.allowed);
    }

    /// Of a version before the field had a type, say.
    #[tokio::test]
    async fn a_finalizer_can_be_taken_from_an_object_that_does_not_decode() {
        async fn same(map: ConfigMap, _: Admission) -> Result<ConfigMap, Denied> {
            Ok(map)
        }
        async fn examine(_: Change<ConfigMap>, _: Admission) -> Result<Findings, Denied> {
            Ok(Findings::default())
        }
        let mut old = config(json!(7));
        old["metadata"]["finalizers"] = json!(["a.b/c"]);
        let mut new = old.clone();
        new["metadata"]["finalizers"] = json!([]);
        let kind = || Kind::new("", "v1", "ConfigMap");
        let handlers = || {
            [
                defaulter(fill_in),
                mutator(same),
                validator(kind(), check),
                async_validator(kind(), examine),
            ]
        };
        for handler in handlers() {
            let response = asked(handler, Operation::Update, old.clone(), new.clone()).await;
            assert_eq!(response.status.map(|status| status.code), Some(400));
        }
        old["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        new["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        for handler in handlers() {
            let response = asked(handler, Operation::Update, old.clone(), new.clone()).await;
            assert_eq!(response, AdmissionResponse::allowed());
        }
    }

    #[tokio::test]
    async fn a_mutator_that_does_not_bear_a_second_call_is_told_so_in_tests() {
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
            let mut reads = Reads::default();
            reads.idempotence = idempotence;
            let response = mutator(grow)(request, reads).await;
            assert_eq!(response.allowed, allowed, "{response:?}");
        }
        let mut reads = Reads::default();
        reads.idempotence = IdempotenceCheck::On;
        let request = AdmissionRequest {
            object: config(json!({})),
            ..AdmissionRequest::default()
        };
        assert!(defaulter(fill_in)(request, reads).await.allowed);
    }

    #[tokio::test]
    async fn a_connection_is_judged_by_its_options() {
        fn quiet(change: &Change<ConfigMap>, findings: &mut Findings) {
            assert!(change.object().is_none() && change.old().is_none());
            if let Change::Connect(options) = change
                && options["tty"] == true
            {
                findings.forbidden("tty", "nobody sits there");
            }
        }
        for (options, allowed) in [
            (json!({"kind": "PodExecOptions", "command": ["ls"]}), true),
            (json!({"kind": "PodExecOptions", "tty": true}), false),
        ] {
            let handler = validator(Kind::new("", "v1", "ConfigMap"), quiet);
            let response = asked(handler, Operation::Connect, Value::Null, options).await;
            assert_eq!(response.allowed, allowed, "{response:?}");
        }
    }

    #[tokio::test]
    async fn an_examiner_finds_faults_or_fails() {
        async fn examine(change: Change<ConfigMap>, cx: Admission) -> Result<Findings, Denied> {
            cx.warn("looked");
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
            let handler = async_validator(Kind::new("", "v1", "ConfigMap"), examine);
            let new = config(json!({"number": number}));
            let response = asked(handler, Operation::Create, Value::Null, new).await;
            assert_eq!(response.warnings, ["looked"]);
            assert_eq!(response.status.map(|status| status.code), code, "{number}");
        }
    }

    #[tokio::test]
    async fn a_mutator_may_refuse_or_fail() {
        async fn refuse(_: ConfigMap, cx: Admission) -> Result<ConfigMap, Denied> {
            cx.warn("careful");
            Err(Denied::because("not today"))
        }
        async fn fail(_: ConfigMap, _: Admission) -> Result<ConfigMap, Denied> {
            let number: i32 = "x".parse()?;
            Err(Denied::because(number.to_string()))
        }
        let new = || config(json!({"a": "b"}));
        let response = asked(mutator(refuse), Operation::Create, Value::Null, new()).await;
        assert_eq!(response.warnings, ["careful"]);
        let status = response.status.unwrap();
        assert_eq!((status.code, status.message.as_str()), (403, "not today"));
        let response = asked(mutator(fail), Operation::Create, Value::Null, new()).await;
        assert_eq!(response.status.unwrap().code, 500);
    }
}
