//! The description of a built-in kind, and the functions that the server calls on it.

use kubewright_core::{FieldSelector, Kind, LabelSelector, NameRule};
use kubewright_wire::status::Cause;
use serde_json::{Map, Value};

use super::quota::{QuotaUsage, add_one};
use super::resource_id::ResourceId;
use super::selectable_field::{SelectableField, matches_fields, unsupported_field};
use super::status::{KeptMetadata, StatusStrategy};
use super::strategy::{
    ControllerSupport, DeleteResponse, FinalizerRule, Generation, Permission, Persistence,
    Propagation, SelectorForm, StorageEncoding,
};
use crate::columns::{Column, DEFAULT_COLUMNS};
use crate::defaults_table::defaults;
use crate::error_list::ErrorList;
use crate::label_selector::{label_selector, plain_selector};
use crate::pod_spec;
use crate::warning_list::Warnings;

/// A built-in kind and what the server does with its objects.
///
/// Each kind is one static in the module of its group, such as
/// [`core::POD`](crate::core::POD). Fields that a kind does not set have the values of
/// `BuiltinKind::new`, which most kinds share.
#[derive(Debug)]
pub struct BuiltinKind {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// `Deployment`.
    pub kind: &'static str,
    /// `deployments`; for a [`Persistence::Subresource`] the name of the subresource.
    pub plural: &'static str,
    pub(crate) id: ResourceId,
    /// Whether its objects are in the store.
    pub persistence: Persistence,
    /// Set for a kind whose objects are stored as those of another kind.
    pub stored_as: Option<StoredAs>,
    /// How Kubernetes encodes its objects in the store.
    pub storage_encoding: StorageEncoding,
    /// Versions that Kubernetes serves and this server cannot convert: requests for them fail
    /// with 501.
    pub unconverted_versions: &'static [&'static str],

    /// What a name may be.
    pub names: NameRule,
    /// What a finalizer may be.
    pub finalizers: FinalizerRule,
    /// Names that cannot be deleted (`NamespaceLifecycle`).
    pub protected_names: &'static [&'static str],
    /// Whether a PUT of an absent object creates it (`AllowCreateOnUpdate`).
    pub create_on_update: Permission,
    /// Whether a PUT without a resourceVersion is accepted (`AllowUnconditionalUpdate`).
    pub unconditional_update: Permission,
    /// Which changes increment `metadata.generation`.
    pub generation: Generation,
    /// What a delete that removes the object returns.
    pub delete_response: DeleteResponse,
    /// What happens to dependents when the request names no propagation policy.
    pub propagation: Propagation,
    /// The warning of a delete that names no propagation policy.
    pub default_propagation_warning: Option<&'static str>,
    /// The seconds that an object has to shut down, from the object and the seconds that the
    /// request names (`CheckGracefulDelete`); none for kinds that are deleted at once.
    pub grace_period: Option<fn(&Value, Option<i64>) -> i64>,
    /// How the `status` subresource is written.
    pub status: StatusStrategy,

    /// The fields that a field selector can name; none where only metadata can be selected by.
    pub selectable_fields: &'static [SelectableField],
    /// How `spec.selector` is written.
    pub selector: SelectorForm,
    /// The path of the PodSpec in an object.
    pub pod_spec: Option<&'static [&'static str]>,
    /// The columns of its table; empty for the default ones.
    pub declared_columns: &'static [Column],
    /// Whether the cluster runs what acts on the kind.
    pub controller: ControllerSupport,

    /// Sets the defaults that depend on other fields, before those of the defaults table.
    pub(crate) defaults: fn(&mut Map<String, Value>),
    /// Changes what conversion to the internal version and back changes, after the defaults.
    pub(crate) convert: fn(&mut Map<String, Value>),
    pub(crate) prepare_create: fn(&mut Map<String, Value>),
    pub(crate) prepare_update: fn(&Value, &mut Map<String, Value>),
    pub(crate) canonicalize: fn(&mut Map<String, Value>),
    pub(crate) validation: Validation,
    pub(crate) warnings: fn(&Value, Option<&Value>, &mut Warnings),
    pub(crate) unsupported: fn(&Value) -> Option<String>,
    pub(crate) quota_usage: fn(&Value, &mut QuotaUsage),
    pub(crate) row_conditions: fn(&Value) -> Option<Value>,
}

/// The form in which objects of a kind are stored, when it is that of another kind.
#[derive(Clone, Copy, Debug)]
pub struct StoredAs {
    /// The kind that is stored.
    pub kind: &'static BuiltinKind,
    /// Its version.
    pub version: &'static str,
    /// Converts an object to the stored form.
    pub encode: fn(Value) -> Value,
    /// Converts a stored object to the kind that has this form.
    pub decode: fn(Value) -> Value,
}

/// The rules of a kind besides those of metadata.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Validation {
    /// They are not implemented: any object is accepted, and the response has a notice.
    Missing,
    /// There are none.
    MetadataOnly,
    /// Reports the errors of an object. For an update, the second value is the stored object.
    Rules(fn(&Value, Option<&Value>, &mut ErrorList)),
}

impl BuiltinKind {
    /// A stored kind with what most kinds have in common.
    pub(crate) const fn new(group: &'static str, kind: &'static str, plural: &'static str) -> Self {
        Self {
            group,
            kind,
            plural,
            id: ResourceId::new(group, plural),
            persistence: Persistence::Stored,
            stored_as: None,
            storage_encoding: StorageEncoding::Protobuf,
            unconverted_versions: &[],
            names: NameRule::Subdomain,
            finalizers: FinalizerRule::Domain,
            protected_names: &[],
            create_on_update: Permission::Denied,
            unconditional_update: Permission::Allowed,
            generation: Generation::Unused,
            delete_response: DeleteResponse::Status,
            propagation: Propagation::Background,
            default_propagation_warning: None,
            grace_period: None,
            status: StatusStrategy::DEFAULT,
            selectable_fields: &[],
            selector: SelectorForm::LabelSelector,
            pod_spec: None,
            declared_columns: &[],
            controller: ControllerSupport::Complete,
            defaults: |_| {},
            convert: |_| {},
            prepare_create: |_| {},
            prepare_update: |_, _| {},
            canonicalize: |_| {},
            validation: Validation::Missing,
            warnings: |_, _, _| {},
            unsupported: |_| None,
            quota_usage: |_, _| {},
            row_conditions: |_| None,
        }
    }

    /// A kind whose objects are requests to a resource of its own, and are not stored.
    pub(crate) const fn request(
        group: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self {
            persistence: Persistence::Virtual,
            ..Self::new(group, kind, plural)
        }
    }

    /// A kind whose objects are requests to a subresource of other kinds.
    pub(crate) const fn subresource(
        group: &'static str,
        kind: &'static str,
        name: &'static str,
    ) -> Self {
        Self {
            persistence: Persistence::Subresource,
            ..Self::new(group, kind, name)
        }
    }

    /// Whether this is the kind, in whatever version.
    pub fn is(&self, kind: &Kind) -> bool {
        self.group == kind.group() && self.kind == kind.kind
    }

    /// The kind in a version.
    pub fn in_version(&self, version: &str) -> Kind {
        Kind::new(self.group, version, self.kind)
    }

    /// The name of the resource in the store: `pods`, `deployments.apps`.
    pub fn resource_id(&self) -> &str {
        self.id.as_str()
    }

    /// The group and the plural name.
    pub fn as_resource_tuple(&self) -> (&'static str, &'static str) {
        (self.group, self.plural)
    }

    /// Sets what decoding an object of a version sets: defaults, and what conversion to the
    /// internal version and back changes.
    pub fn apply_defaults(&self, version: &str, object: &mut Value) {
        if let Some(members) = object.as_object_mut() {
            (self.defaults)(members);
        }
        if let Some(spec) = self.pod_spec_mut(object) {
            pod_spec::apply_defaults(spec);
        }
        defaults().apply(&self.in_version(version), object);
        if let Some(spec) = self.pod_spec_mut(object) {
            pod_spec::sync_service_account(spec);
        }
        if let Some(members) = object.as_object_mut() {
            (self.convert)(members);
        }
    }

    fn pod_spec_mut<'a>(&self, object: &'a mut Value) -> Option<&'a mut Map<String, Value>> {
        let spec = self
            .pod_spec?
            .iter()
            .try_fold(object, |value, field| value.get_mut(field))?;
        spec.as_object_mut()
    }

    /// Sets the fields that the server sets in a new object (`PrepareForCreate`).
    pub fn prepare_create(&self, object: &mut Map<String, Value>) {
        (self.prepare_create)(object);
    }

    /// Copies from the stored object what an update does not change (`PrepareForUpdate`).
    pub fn prepare_update(&self, old: &Value, object: &mut Map<String, Value>) {
        (self.prepare_update)(old, object);
    }

    /// Copies from the stored object what a status write does not change (`PrepareForUpdate` of
    /// the status strategy). [`KeptMetadata::All`] is left to the caller.
    pub fn prepare_status_update(&self, old: &Value, object: &mut Map<String, Value>) {
        if let KeptMetadata::Fields(fields) = self.status.kept_metadata
            && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        {
            for field in fields {
                match old["metadata"].get(field) {
                    Some(stored) => metadata.insert((*field).to_owned(), stored.clone()),
                    None => metadata.remove(*field),
                };
            }
        }
        (self.status.prepare)(old, object);
    }

    /// Sets what follows from the name, which may just have been generated (`Canonicalize`).
    pub fn canonicalize(&self, object: &mut Map<String, Value>) {
        (self.canonicalize)(object);
    }

    /// Whether the kind's rules are implemented.
    pub fn is_validated(&self) -> bool {
        !matches!(self.validation, Validation::Missing)
    }

    /// The errors of an object besides those of its metadata. For an update, `old` is the stored
    /// object.
    pub fn validate(&self, object: &Value, old: Option<&Value>) -> Vec<Cause> {
        let mut errors = ErrorList::default();
        if let Validation::Rules(validate) = self.validation {
            validate(object, old, &mut errors);
        }
        errors.into_causes()
    }

    /// The errors of an object whose status is written.
    pub fn validate_status(&self, object: &Value, old: &Value) -> Vec<Cause> {
        let mut errors = ErrorList::default();
        (self.status.validate)(object, old, &mut errors);
        errors.into_causes()
    }

    /// The warnings of a valid write (`WarningsOnCreate`, `WarningsOnUpdate`).
    ///
    /// For an update, `old` is the stored object, and the new one already has its generation.
    pub fn warnings(&self, object: &Value, old: Option<&Value>) -> Vec<String> {
        let mut warnings = Warnings::default();
        (self.warnings)(object, old, &mut warnings);
        warnings.into_messages()
    }

    /// The warnings of a valid status write.
    pub fn status_warnings(&self, object: &Value) -> Vec<String> {
        let mut warnings = Warnings::default();
        (self.status.warnings)(object, &mut warnings);
        warnings.into_messages()
    }

    /// Why this server cannot do what an object requires, for a response with 501.
    ///
    /// Such an object is rejected: its author would rely on it, and nothing would act on it.
    pub fn unsupported(&self, object: &Value) -> Option<String> {
        (self.unsupported)(object)
    }

    /// The warnings of each write of the kind about what this server does not implement.
    pub fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if !self.is_validated() {
            notices.push(format!(
                "kubewright: validation of {} is not implemented yet",
                self.kind
            ));
        }
        if self.controller == ControllerSupport::Missing {
            notices.push(format!(
                "kubewright: nothing acts on {} yet: its controller is not implemented",
                self.kind
            ));
        }
        notices
    }

    /// The message for a field selector that the kind does not support.
    pub fn unsupported_selector(&self, selector: &FieldSelector) -> Option<String> {
        unsupported_field(self.selectable_fields, selector)
    }

    /// Whether an object matches a field selector.
    pub fn matches_fields(&self, selector: &FieldSelector, object: &Value) -> bool {
        matches_fields(self.selectable_fields, selector, object)
    }

    /// The columns of its table.
    pub fn columns(&self) -> &'static [Column] {
        if self.declared_columns.is_empty() {
            DEFAULT_COLUMNS
        } else {
            self.declared_columns
        }
    }

    /// The selector of an object; `None` when it is absent or invalid, and selects nothing.
    pub fn selector_of(&self, object: &Value) -> Option<LabelSelector> {
        let selector = object.pointer("/spec/selector").unwrap_or(&Value::Null);
        match self.selector {
            SelectorForm::LabelSelector => label_selector(selector),
            SelectorForm::Labels => Some(plain_selector(selector)),
        }
    }

    /// What an object uses of a quota.
    pub fn quota_usage(&self, object: &Value) -> QuotaUsage {
        let mut usage = QuotaUsage::new();
        add_one(&mut usage, &format!("count/{}", self.resource_id()));
        (self.quota_usage)(object, &mut usage);
        usage
    }

    /// The `conditions` of an object's row in a table.
    pub fn row_conditions(&self, object: &Value) -> Option<Value> {
        (self.row_conditions)(object)
    }
}

/// Statics are compared by what they name.
impl PartialEq for BuiltinKind {
    fn eq(&self, other: &Self) -> bool {
        self.group == other.group && self.kind == other.kind
    }
}

impl Eq for BuiltinKind {}
