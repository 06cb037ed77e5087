//! ServiceAccount: Pods get an account and its token (plugin/pkg/admission/serviceaccount).

use kubewright_kinds::core::{POD, SERVICE_ACCOUNT};
use kubewright_kinds::json::{items, text};
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::store::Key;

const MIRROR: &str = "/metadata/annotations/kubernetes.io~1config.mirror";
const VOLUME: &str = "kube-api-access-";
const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Gives a new Pod its account, the account's token, and the account's image pull secrets.
pub(super) fn mutate(
    context: &AdmissionContext,
    attributes: &mut AdmissionAttributes,
) -> Result<(), Status> {
    if !attributes.is_create() || !attributes.is_main() || !attributes.resource.is(&POD) {
        return Ok(());
    }
    let namespace = attributes.namespace.clone();
    let Some(pod) = &mut attributes.object else {
        return Ok(());
    };
    let specified = text(&pod["spec"]["serviceAccountName"]);
    if pod.pointer(MIRROR).is_some() {
        if specified.is_empty() {
            return Ok(());
        }
        return Err(attributes.forbidden("a mirror pod may not reference service accounts"));
    }
    let name = if specified.is_empty() {
        "default".to_owned()
    } else {
        specified.to_owned()
    };
    let key = Key::new(SERVICE_ACCOUNT.resource_id(), Some(&namespace), &name);
    let Some(account) = context.store.get(&key) else {
        return Err(attributes.forbidden(&format!(
            "error looking up service account {namespace}/{name}: serviceaccount {name:?} not \
             found"
        )));
    };
    set_account(context, account.value(), &name, &mut pod["spec"]);
    Ok(())
}

fn set_account(context: &AdmissionContext, account: &Value, name: &str, spec: &mut Value) {
    spec["serviceAccountName"] = json!(name);
    spec["serviceAccount"] = json!(name);
    let automount = |holder: &Value| holder["automountServiceAccountToken"].as_bool();
    if automount(spec)
        .or_else(|| automount(account))
        .unwrap_or(true)
    {
        mount_token(spec, || format!("{VOLUME}{}", context.random.suffix()));
    }
    let is_empty = |list: &Value| list.as_array().is_none_or(|list| list.is_empty());
    if is_empty(&spec["imagePullSecrets"]) {
        if is_empty(&account["imagePullSecrets"]) {
            remove(spec, "imagePullSecrets");
        } else {
            spec["imagePullSecrets"] = account["imagePullSecrets"].clone();
        }
    }
}

fn remove(spec: &mut Value, field: &str) {
    if let Some(members) = spec.as_object_mut() {
        members.remove(field);
    }
}

fn mount_token(spec: &mut Value, generate: impl Fn() -> String) {
    let present = items(&spec["volumes"])
        .filter_map(|volume| volume["name"].as_str())
        .find(|name| name.starts_with(VOLUME))
        .map(str::to_owned);
    let is_present = present.is_some();
    let name = present.unwrap_or_else(generate);
    let mount = json!({"name": name, "readOnly": true, "mountPath": MOUNT_PATH});
    let mut is_needed = false;
    for list in ["initContainers", "containers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            is_needed |= add_mount(container, &mount);
        }
    }
    if is_needed && !is_present {
        push(spec, "volumes", token_volume(&name));
    }
}

/// Mounts the token unless the container mounts something else there. Returns whether it did.
fn add_mount(container: &mut Value, mount: &Value) -> bool {
    if items(&container["volumeMounts"]).any(|mount| mount["mountPath"] == MOUNT_PATH) {
        return false;
    }
    push(container, "volumeMounts", mount.clone());
    true
}

fn push(holder: &mut Value, list: &str, item: Value) {
    match holder[list].as_array_mut() {
        Some(items) => items.push(item),
        None => holder[list] = json!([item]),
    }
}

fn token_volume(name: &str) -> Value {
    json!({
        "name": name,
        "projected": {
            "defaultMode": 0o644,
            "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {
                    "name": "kube-root-ca.crt",
                    "items": [{"key": "ca.crt", "path": "ca.crt"}],
                }},
                {"downwardAPI": {"items": [{
                    "path": "namespace",
                    "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                }]}},
            ],
        },
    })
}
