use std::collections::BTreeMap;

use serde_json::Value;

use super::compare::{Comparison, is_equal};
use super::field_set::field_set;
use super::managed::{Entry, Managed, ManagerId};
use super::merge::merge;
use super::prune::prune;
use super::reconcile::reconcile;
use super::versions::Versions;
use super::{Force, conflict};
use crate::fields::FieldSet;
use crate::schema::SchemaType;
use crate::status::Status;

/// The rules of ownership, for one kind in one version.
pub(super) struct Updater<'a> {
    pub(super) versions: &'a dyn Versions,
    pub(super) api_version: String,
    pub(super) schema: SchemaType<'a>,
    /// Fields that the request cannot change; nobody comes to own them by it.
    pub(super) reset: &'a FieldSet,
}

impl Updater<'_> {
    /// What changed from `live` to `new`: the fields that the writer now owns. All others lose
    /// them, and lose what was removed.
    pub(super) fn update(&self, live: &Value, new: &Value, managed: &mut Managed) -> FieldSet {
        self.reconcile(managed);
        let (comparison, conflicts) = self.compare(live, new, managed, None);
        self.take_away(managed, &conflicts);
        let taken = comparison.modified.union(comparison.added);
        taken.recursive_difference(self.reset)
    }

    /// Applies an intent: the new object, or none where nothing but ownership changed.
    pub(super) fn apply(
        &self,
        live: &Value,
        intent: &Value,
        managed: &mut Managed,
        (id, force): (&ManagerId, Force),
    ) -> Result<Option<Value>, Status> {
        self.reconcile(managed);
        let merged = merge(live, intent, self.schema)
            .map_err(|what| Status::unknown(format!("failed to merge config: {what}")))?;
        let last = managed.entries.get(id).cloned();
        let fields = field_set(intent, self.schema).recursive_difference(self.reset);
        let entry = Entry {
            fields,
            api_version: self.api_version.clone(),
            time: last.as_ref().and_then(|last| last.time),
        };
        managed.entries.insert(id.clone(), entry);
        let versions = (self.versions, self.api_version.as_str());
        let new = prune(merged, managed, last.as_ref(), versions);
        let (_, changes) = self.compare(live, &new, managed, Some(id));
        let conflicts: BTreeMap<ManagerId, FieldSet> = changes
            .iter()
            .filter(|(_, change)| !change.conflicts.is_empty())
            .map(|(id, change)| (id.clone(), change.conflicts.clone()))
            .collect();
        if force == Force::No && !conflicts.is_empty() {
            return Err(conflict::status(&conflicts));
        }
        self.take_away(managed, &changes);
        Ok((!is_equal(live, &new)).then_some(new))
    }

    /// Drops entries of versions that are gone and adapts the others to changes of the schema.
    fn reconcile(&self, managed: &mut Managed) {
        managed.entries.retain(|_, entry| {
            let Some(schema) = self.versions.schema(&entry.api_version) else {
                return false;
            };
            entry.fields = reconcile(&entry.fields, schema);
            true
        });
    }

    /// What changed, in the version of the request and, for each manager but `own`, in its own.
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

    /// Takes from each manager what others changed or removed; entries without fields vanish.
    fn take_away(&self, managed: &mut Managed, changes: &BTreeMap<ManagerId, Change>) {
        managed.entries.retain(|id, entry| {
            if let Some(change) = changes.get(id) {
                let kept = std::mem::take(&mut entry.fields).difference(&change.conflicts);
                entry.fields = kept.difference(&change.removed);
            }
            !entry.fields.is_empty()
        });
    }
}

/// What a write does to the fields of another manager.
struct Change {
    conflicts: FieldSet,
    removed: FieldSet,
}
