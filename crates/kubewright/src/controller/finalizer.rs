//! A controller's finalizer: its checks, and the stages of an object that has it.

use kube::core::ObjectMeta;

use super::functions::ReconcileFn;
use crate::Error;

/// A finalizer that keeps an object until its cleanup is complete.
pub(super) struct Finalizer<K> {
    pub(super) name: String,
    pub(super) cleanup: ReconcileFn<K>,
}

/// The stage of an object with regard to a finalizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The object exists and lacks the finalizer.
    WithoutFinalizer,
    /// The object exists and has the finalizer.
    Active,
    /// The object is being deleted and waits for the cleanup.
    CleaningUp,
    /// The object is being deleted and no longer has the finalizer.
    Released,
}

impl Stage {
    pub(super) fn of(meta: &ObjectMeta, finalizer: &str) -> Self {
        let has_finalizer = meta
            .finalizers
            .iter()
            .flatten()
            .any(|name| name == finalizer);
        let is_deleted = meta.deletion_timestamp.is_some();
        match (has_finalizer, is_deleted) {
            (false, false) => Self::WithoutFinalizer,
            (true, false) => Self::Active,
            (true, true) => Self::CleaningUp,
            (false, true) => Self::Released,
        }
    }
}

/// Returns an error if the controller has two finalizers, or one whose name the API server denies.
pub(super) fn check_finalizers<K>(
    controller: &str,
    finalizers: &[Finalizer<K>],
) -> Result<(), Error> {
    let invalid = |finalizer: &Finalizer<K>, why| {
        Err(Error::Finalizer {
            controller: controller.to_owned(),
            name: finalizer.name.clone(),
            why,
        })
    };
    match finalizers {
        // As in k8s.io/apimachinery/pkg/api/validation, ValidateFinalizerName.
        [finalizer] if !finalizer.name.contains('/') => invalid(
            finalizer,
            "its name is not qualified; use one such as ex.io/cleanup",
        ),
        [] | [_] => Ok(()),
        [_, second, ..] => invalid(
            second,
            "it has one already; clean up everything in one function",
        ),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use kube::core::ObjectMeta;

    use super::Stage;

    #[test]
    fn finalizer_is_added_before_deletion_and_cleaned_up_after_it() {
        let stage = |finalizers: &[&str], is_deleted: bool| {
            let meta = ObjectMeta {
                finalizers: Some(finalizers.iter().map(ToString::to_string).collect()),
                deletion_timestamp: is_deleted.then_some(Time(jiff::Timestamp::UNIX_EPOCH)),
                ..ObjectMeta::default()
            };
            Stage::of(&meta, "ex.io/ours")
        };
        assert_eq!(stage(&["ex.io/other"], false), Stage::WithoutFinalizer);
        assert_eq!(stage(&["ex.io/ours"], false), Stage::Active);
        let both = ["ex.io/ours", "ex.io/other"];
        assert_eq!(stage(&both, true), Stage::CleaningUp);
        assert_eq!(stage(&["ex.io/other"], true), Stage::Released);
    }
}
