//! The rules of field ownership for updates and applies.

use std::collections::BTreeMap;

use serde_json::Value;

use super::compare::{Comparison, is_equal};
use super::conflict::{self, Force};
use super::field_set::field_set;
use super::managed::{Entry, Managed, ManagerId};
use super::merge::merge;
use super::prune::prune;
use super::reconcile::reconcile;
use super::versions::Versions;
use crate::fields::FieldSet;
use crate::schema::SchemaType;
use crate::status::Status;

/// Updates field owners, for one kind in one version.
pub(super) struct Updater<'a> {
    pub(super) versions: &'a dyn Versions,
    pub(super) api_version: String,
    pub(super) schema: SchemaType<'a>,
    /// Fields that the request cannot change, and so cannot own.
    pub(super) reset: &'a FieldSet,
}

/// An object that a manager applies.
pub(super) struct Intent<'a> {
    pub(super) value: &'a Value,
    pub(super) id: &'a ManagerId,
    pub(super) force: Force,
}

impl Updater<'_> {
    /// Returns the fields that changed from `live` to `new`, which the writer now owns. Other
    /// managers lose these and the removed fields.
    pub(super) fn update(&self, live: &Value, new: &Value, managed: &mut Managed) -> FieldSet {
        self.reconcile(managed);
        let (comparison, conflicts) = self.compare(live, new, managed, None);
        self.remove_owned(managed, &conflicts);
        let taken = comparison.modified.union(comparison.added);
        taken.recursive_difference(self.reset)
    }

    /// Applies an intent: returns the new object, or `None` when only owners changed.
    pub(super) fn apply(
        &self,
        live: &Value,
        intent: &Intent<'_>,
        managed: &mut Managed,
    ) -> Result<Option<Value>, Status> {
        self.reconcile(managed);
        let merged = merge(live, intent.value, self.schema)
            .map_err(|what| Status::unknown(format!("failed to merge config: {what}")))?;
        let last = managed.entries.get(intent.id).cloned();
        let fields = field_set(intent.value, self.schema).recursive_difference(self.reset);
        let entry = Entry {
            fields,
            api_version: self.api_version.clone(),
            time: last.as_ref().and_then(|last| last.time),
        };
        managed.entries.insert(intent.id.clone(), entry);
        let new = prune(
            merged,
            managed,
            last.as_ref(),
            self.versions,
            &self.api_version,
        );
        let (_, changes) = self.compare(live, &new, managed, Some(intent.id));
        let conflicts: BTreeMap<ManagerId, FieldSet> = changes
            .iter()
            .filter(|(_, change)| !change.conflicts.is_empty())
            .map(|(id, change)| (id.clone(), change.conflicts.clone()))
            .collect();
        if intent.force == Force::No && !conflicts.is_empty() {
            return Err(conflict::status(&conflicts));
        }
        self.remove_owned(managed, &changes);
        Ok((!is_equal(live, &new)).then_some(new))
    }

    /// Drops entries of versions that are no longer served, and adapts the others to the schema.
    fn reconcile(&self, managed: &mut Managed) {
        managed.entries.retain(|_, entry| {
            let Some(schema) = self.versions.schema(&entry.api_version) else {
                return false;
            };
            entry.fields = reconcile(&entry.fields, schema);
            true
        });
    }

    /// The changes in the version of the request, and for each manager but `own` in its version.
    fn compare(
        &self,
        live: &Value,
        new: &Value,
        managed: &Managed,
        own: Option<&ManagerId>,
    ) -> (Comparison, BTreeMap<ManagerId, Change>) {
        let mut by_version: BTreeMap<&str, Comparison> = BTreeMap::new();
        let compared = Comparison::between(live, new, self.schema).without(self.reset);
        by_version.insert(&self.api_version, compared);
        let mut changes = BTreeMap::new();
        for (id, entry) in managed.entries.iter().filter(|(id, _)| Some(*id) != own) {
            if !by_version.contains_key(entry.api_version.as_str()) {
                let comparison = self.compare_in(live, new, &entry.api_version);
                by_version.insert(&entry.api_version, comparison.unwrap_or_default());
            }
            let Some(comparison) = by_version.get(entry.api_version.as_str()) else {
                continue;
            };
            let fields = &entry.fields;
            let modified = fields.intersection(&comparison.modified);
            let change = Change {
                conflicts: modified.union(fields.intersection(&comparison.added)),
                removed: fields.intersection(&comparison.removed),
            };
            changes.insert(id.clone(), change);
        }
        let compared = by_version.remove(self.api_version.as_str());
        (compared.unwrap_or_default(), changes)
    }

    fn compare_in(&self, live: &Value, new: &Value, version: &str) -> Option<Comparison> {
        let schema = self.versions.schema(version)?;
        let live = self.versions.convert(live, version)?;
        let new = self.versions.convert(new, version)?;
        Some(Comparison::between(&live, &new, schema).without(self.reset))
    }

    /// Removes changed and removed fields from the entries of their managers; entries without fields
    /// are dropped.
    fn remove_owned(&self, managed: &mut Managed, changes: &BTreeMap<ManagerId, Change>) {
        managed.entries.retain(|id, entry| {
            if let Some(change) = changes.get(id) {
                let kept = std::mem::take(&mut entry.fields).difference(&change.conflicts);
                entry.fields = kept.difference(&change.removed);
            }
            !entry.fields.is_empty()
        });
    }
}

/// The effect of a write on the fields of another manager.
struct Change {
    conflicts: FieldSet,
    removed: FieldSet,
}
