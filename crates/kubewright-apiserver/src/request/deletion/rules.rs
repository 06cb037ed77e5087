//! What a deletion does to a stored object, in the order of `Store.Delete` of k8s.io/apiserver.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kubewright_kinds::apiextensions::CUSTOM_RESOURCE_DEFINITION;
use kubewright_kinds::core::NAMESPACE;
use serde_json::{Value, json};

use super::options::DeleteOptions;
use crate::request::conditions::{ConditionStatus, condition, set_condition};
use crate::request::target::Target;
use crate::store::{Expected, Object, Store, WriteConflict, metadata_mut, timestamp};

/// The finalizer that a definition has until its objects are deleted.
pub(crate) const DEFINITION_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// What a deletion does next.
pub(crate) enum DeletionStep {
    /// The object is stored in this form and waits for finalizers or for its grace period.
    Mark(Value),
    /// The object is stored in this form first, where there is one, and then removed.
    Remove(Option<Value>),
    /// The object is already waiting.
    Nothing,
}

/// The result of a deletion.
pub(crate) enum Deleted {
    /// The object is removed; this was its last state.
    Removed(Arc<Object>),
    /// The object is marked, and waits for finalizers or for its grace period.
    Marked(Arc<Object>),
}

/// The next step of a deletion.
pub(crate) fn deletion_step(
    target: &Target,
    old: &Object,
    options: &DeleteOptions,
    now: Timestamp,
) -> DeletionStep {
    let resource = &target.resource;
    let finalizers = options.finalizers(resource.strategy, old);
    if resource.is(&NAMESPACE) {
        return namespace_step(old, &finalizers, now);
    }
    let is_definition = resource.is(&CUSTOM_RESOURCE_DEFINITION);
    if is_definition && !old.is_terminating() {
        return DeletionStep::Mark(terminating_definition(old, &timestamp(now)));
    }
    let mut value = old.value().clone();
    if let Some(period) = resource.strategy.grace_period {
        match grace(period, old, options, now) {
            Grace::Pending => return DeletionStep::Nothing,
            Grace::Set { end, seconds } => {
                mark(&mut value, old, end, seconds);
                set_finalizers(&mut value, &finalizers);
                if seconds > 0 || !finalizers.is_empty() {
                    return DeletionStep::Mark(value);
                }
                return DeletionStep::Remove(Some(value));
            }
            Grace::Over => {}
        }
    }
    if finalizers.is_empty() {
        return DeletionStep::Remove(None);
    }
    let since = old.deletion_timestamp().filter(|time| *time <= now);
    mark(&mut value, old, since.unwrap_or(now), 0);
    set_finalizers(&mut value, &finalizers);
    DeletionStep::Mark(value)
}

/// A Namespace is marked first, then it waits until its content is deleted.
fn namespace_step(old: &Object, finalizers: &[String], now: Timestamp) -> DeletionStep {
    let has_content = old
        .value()
        .pointer("/spec/finalizers")
        .and_then(Value::as_array)
        .is_some_and(|names| !names.is_empty());
    let mut value = old.value().clone();
    if !old.is_terminating() {
        metadata_mut(&mut value).insert("deletionTimestamp".to_owned(), json!(timestamp(now)));
        value["status"]["phase"] = json!("Terminating");
        set_finalizers(&mut value, finalizers);
        return DeletionStep::Mark(value);
    }
    if has_content {
        return DeletionStep::Nothing;
    }
    if finalizers.is_empty() {
        return DeletionStep::Remove(None);
    }
    set_finalizers(&mut value, finalizers);
    DeletionStep::Mark(value)
}

/// A CustomResourceDefinition waits until its objects are deleted.
fn terminating_definition(old: &Object, now: &str) -> Value {
    let mut value = old.value().clone();
    let mut finalizers: Vec<String> = old.finalizers().map(str::to_owned).collect();
    if !finalizers.iter().any(|name| name == DEFINITION_FINALIZER) {
        finalizers.push(DEFINITION_FINALIZER.to_owned());
    }
    let metadata = metadata_mut(&mut value);
    metadata.insert("finalizers".to_owned(), json!(finalizers));
    metadata.insert("deletionTimestamp".to_owned(), json!(now));
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will \
                   begin soon";
    let pending = condition(
        "Terminating",
        ConditionStatus::True,
        "InstanceDeletionPending",
        message,
    );
    set_condition(&mut value, pending, now);
    value
}

/// The grace period of an object after a delete request.
enum Grace {
    /// A longer or equal period is running.
    Pending,
    /// A period begins or is shortened.
    Set { end: Timestamp, seconds: i64 },
    /// It is over.
    Over,
}

/// `BeforeDelete` of k8s.io/apiserver/pkg/registry/rest/delete.go.
fn grace(
    period: fn(&Value, Option<i64>) -> i64,
    old: &Object,
    options: &DeleteOptions,
    now: Timestamp,
) -> Grace {
    let requested = options
        .grace_period_seconds
        .map(|seconds| if seconds < 0 { 1 } else { seconds });
    let Some(end) = old.deletion_timestamp() else {
        let seconds = period(old.value(), requested);
        return Grace::Set {
            end: saturating_add(now, seconds),
            seconds,
        };
    };
    let running = old
        .metadata("deletionGracePeriodSeconds")
        .and_then(Value::as_i64)
        .unwrap_or(0);
    match requested {
        _ if running == 0 => Grace::Over,
        None => Grace::Pending,
        Some(seconds) if seconds >= running => Grace::Pending,
        Some(seconds) => {
            let sooner = saturating_add(end, seconds.saturating_sub(running));
            if sooner < now {
                return Grace::Set {
                    end: now,
                    seconds: seconds.min(1),
                };
            }
            Grace::Set {
                end: sooner,
                seconds,
            }
        }
    }
}

/// Saturates because clients choose the seconds, and the sum can overflow.
fn saturating_add(time: Timestamp, seconds: i64) -> Timestamp {
    time.checked_add(SignedDuration::from_secs(seconds))
        .unwrap_or(if seconds < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        })
}

fn mark(value: &mut Value, old: &Object, end: Timestamp, seconds: i64) {
    let generation = old.generation();
    let metadata = metadata_mut(value);
    if !old.is_terminating() && generation > 0 {
        metadata.insert("generation".to_owned(), json!(generation + 1));
    }
    metadata.insert("deletionTimestamp".to_owned(), json!(timestamp(end)));
    metadata.insert("deletionGracePeriodSeconds".to_owned(), json!(seconds));
}

fn set_finalizers(value: &mut Value, finalizers: &[String]) {
    let metadata = metadata_mut(value);
    if finalizers.is_empty() {
        metadata.remove("finalizers");
    } else {
        metadata.insert("finalizers".to_owned(), json!(finalizers));
    }
}

/// Carries out a step, unless the object has changed in between.
pub(crate) fn store_deletion(
    store: &Store,
    target: &Target,
    old: &Arc<Object>,
    step: DeletionStep,
) -> Result<Deleted, WriteConflict> {
    let key = target.key(old.name());
    match step {
        DeletionStep::Nothing => Ok(Deleted::Marked(Arc::clone(old))),
        DeletionStep::Mark(value) => {
            let marked = store.put(key, Expected::At(old.revision()), value)?;
            Ok(Deleted::Marked(marked))
        }
        DeletionStep::Remove(value) => {
            let mut last = Arc::clone(old);
            if let Some(value) = value {
                last = store.put(key.clone(), Expected::At(old.revision()), value)?;
            }
            let removed = store.remove(key, last.revision())?;
            Ok(Deleted::Removed(removed))
        }
    }
}

/// What a step would do, for a dry run.
pub(crate) fn simulate_deletion(old: &Arc<Object>, step: DeletionStep) -> Deleted {
    let unstored = |value: Value| Arc::new(Object::new(value, old.revision()));
    match step {
        DeletionStep::Nothing => Deleted::Marked(Arc::clone(old)),
        DeletionStep::Mark(value) => Deleted::Marked(unstored(value)),
        DeletionStep::Remove(value) => {
            Deleted::Removed(value.map_or_else(|| Arc::clone(old), unstored))
        }
    }
}
