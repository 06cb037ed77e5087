//! The write pipeline: the steps of every create, update, patch and apply.

use std::sync::Arc;

use kubewright_core::Operation;
use kubewright_kinds::apiextensions::CUSTOM_RESOURCE_DEFINITION;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::admit;
use super::attributes::attributes;
use super::authorize::{authorize_create, authorize_grant};
use super::change::{Change, Ownership, complete_applied};
use super::commit::{Committed, Replaced, commit};
use super::guards::{check_definition, guards};
use super::metadata::{check_revision, keep_system_fields, prepare_changed, prepare_new};
use super::new_name::{NewName, name_or_base};
use super::ownership::{self, Writer};
use super::part::Part;
use super::validate::validate;
use super::version;
use crate::admission::AdmissionAttributes;
use crate::authentication::User;
use crate::request::api::Api;
use crate::request::definitions;
use crate::request::message::ApiRequest;
use crate::request::options::{DryRun, WriteOptions};
use crate::request::target::Target;
use crate::store::{Object, ObservedRevision};
use crate::warnings::Warnings;

/// How often a write is tried while other writes conflict with it.
pub(crate) const MAX_ATTEMPTS: usize = 64;

const HAS_OBJECT: &str = "the attributes of a write have an object";

/// One write of an object.
pub(crate) struct Write<'a> {
    target: &'a Target,
    mode: Mode,
    writer: Writer,
    user: User,
    admission: Admission<'a>,
    dry_run: DryRun,
    warnings: Warnings,
}

/// Whether a write creates an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Create,
    Update,
    /// Updates the object, or creates it where it does not exist.
    CreateOrUpdate,
}

/// What admission sees of a write.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Admission<'a> {
    /// The object.
    Object(&'a ApiRequest),
    /// A view of the object, such as its scale. Admission has mutated it before.
    View(&'a ApiRequest, fn(&Target, &Value) -> Value),
    /// Nothing: the write is one of the server itself, or was admitted before.
    Nothing,
}

/// The stored object of a write.
pub(crate) enum Current {
    New,
    Existing {
        stored: Arc<Object>,
        /// The stored object in the version of the request.
        old: Arc<Object>,
    },
}

/// The result of a write.
pub(crate) struct Written {
    pub(crate) object: Arc<Object>,
    pub(crate) is_created: bool,
}

impl<'a> Write<'a> {
    /// The write of a request.
    pub(crate) fn new(
        api: &Api,
        target: &'a Target,
        request: &'a ApiRequest,
        options: &WriteOptions,
        part: Part,
    ) -> Self {
        Self {
            target,
            mode: Mode::Update,
            writer: Writer::of(api, request, options, part),
            user: request.user.clone(),
            admission: Admission::Object(request),
            dry_run: options.dry_run,
            warnings: request.warnings.clone(),
        }
    }

    /// A write of the server itself.
    pub(crate) fn by_server(api: &Api, target: &'a Target, part: Part, dry_run: DryRun) -> Self {
        let subresource = (part == Part::Status).then(|| "status".to_owned());
        Self {
            target,
            mode: Mode::Update,
            writer: Writer {
                manager: "kube-apiserver".to_owned(),
                subresource,
                part,
                now: api.clock.now(),
                versions: Arc::default(),
            },
            user: User::system("system:apiserver"),
            admission: Admission::Nothing,
            dry_run,
            warnings: Warnings::default(),
        }
    }

    #[must_use]
    pub(crate) fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    #[must_use]
    pub(crate) fn admission(mut self, admission: Admission<'a>) -> Self {
        self.admission = admission;
        self
    }

    /// Runs a write, and repeats it while other writes conflict with it.
    pub(crate) async fn run(&self, api: &Api, mut change: Change<'_>) -> Result<Written, Status> {
        for _ in 0..MAX_ATTEMPTS {
            let current = self.current(api).await?;
            if let Some(written) = self.attempt(api, &current, &mut change).await? {
                return Ok(written);
            }
        }
        Err(Status::conflict(
            &self.target.resource.resource,
            self.target.name()?,
        ))
    }

    /// Reads the stored object.
    pub(crate) async fn current(&self, api: &Api) -> Result<Current, Status> {
        if self.mode == Mode::Create {
            return Ok(Current::New);
        }
        let name = self.target.name()?;
        match api.store.get(&self.target.key(name)) {
            Some(stored) => {
                let old = version::in_request(api, self.target, Arc::clone(&stored)).await?;
                Ok(Current::Existing { stored, old })
            }
            None if self.mode == Mode::CreateOrUpdate => {
                if let Admission::Object(request) = self.admission {
                    authorize_create(api, self.target, request).await?;
                }
                Ok(Current::New)
            }
            None => Err(self.target.not_found(name)),
        }
    }

    /// One pass through the steps of a write. None when another write conflicts with it.
    pub(crate) async fn attempt(
        &self,
        api: &Api,
        current: &Current,
        change: &mut Change<'_>,
    ) -> Result<Option<Written>, Status> {
        let (target, part) = (self.target, self.writer.part);
        let old = current.old().map(Arc::as_ref);
        let proposed = self.propose(api, change, old).await?;
        check_definition(api, target, old, &proposed)?;
        let mut mutated = self.mutate(api, current, proposed).await?;
        authorize_grant(api, target, &self.user, old, &mutated)?;
        let mut new_name = NewName::of(&mutated);
        for _ in 0..MAX_ATTEMPTS {
            let guards = guards(api, target, old, &mutated)?;
            // Kept if another name may have to be generated, or if the stored form differs.
            let mut object = if new_name.is_generated() || target.is_converted() {
                mutated.clone()
            } else {
                std::mem::take(&mut mutated)
            };
            self.prepare(api, old, &mut object)?;
            self.warnings.add(validate(target, part, old, &object)?);
            self.accept(api, old, &mut object)?;
            let admitted = self.admit(api, current, object).await?;
            let stored = version::to_stored(api, target, admitted).await?;
            let replaced = current.replaced(&guards);
            match commit(api, target, replaced, stored, self.dry_run)? {
                Committed::Stored(object) => return Ok(Some(current.written(object))),
                Committed::Exists(_) if self.mode == Mode::CreateOrUpdate => return Ok(None),
                Committed::Exists(existing) => new_name.taken(target, &existing)?,
                Committed::Conflict => return Ok(None),
                // The namespace or definition has changed, and is checked again.
                Committed::Outdated(value) if mutated.is_null() => mutated = value,
                Committed::Outdated(_) => {}
            }
        }
        let name = name_or_base(&mutated);
        Err(Status::conflict(&target.resource.resource, name))
    }

    /// The object that the client wants, with its field owners: the body, or the stored object with
    /// a patch or an applied configuration.
    ///
    /// Field ownership needs the object in the versions of other managers. It is computed again
    /// until no conversion by webhook is missing (`docs/design/why-is-a-merge-repeated.md`).
    async fn propose(
        &self,
        api: &Api,
        change: &mut Change<'_>,
        old: Option<&Object>,
    ) -> Result<Value, Status> {
        loop {
            let proposed = self.owned(change, old);
            let versions = &self.writer.versions;
            if old.is_none() || !versions.learn(&api.webhooks, self.target).await? {
                return proposed;
            }
        }
    }

    /// The changed object with its field owners, by the conversions that are known so far.
    fn owned(&self, change: &mut Change<'_>, old: Option<&Object>) -> Result<Value, Status> {
        let mut object = change.object(self.target, old)?;
        if let Change::Apply(apply) = change {
            let force = apply.force;
            let mut merged = ownership::apply(self.target, old, &object, &self.writer, force)?;
            complete_applied(self.target, old, &mut merged)?;
            return Ok(merged);
        }
        let ownership = match change {
            Change::Edit(edit) => edit.ownership,
            _ => Ownership::Tracked,
        };
        if ownership == Ownership::Unchanged {
            return Ok(object);
        }
        // Both come once more in `prepare`: admission can change the object in between.
        if let Some(old) = old {
            check_revision(self.target, old, &object)?;
            keep_system_fields(old, &mut object);
        }
        let mut owned = ownership::track(self.target, old, object, &self.writer);
        if ownership == Ownership::TrackedWithoutTime {
            ownership::drop_times(&mut owned, &self.writer);
        }
        Ok(owned)
    }

    /// Lets admission change the object. A view is mutated before it becomes a change.
    async fn mutate(&self, api: &Api, current: &Current, object: Value) -> Result<Value, Status> {
        let Admission::Object(request) = self.admission else {
            return Ok(object);
        };
        let attributes = self.attributes(request, current.old().cloned(), object);
        let mutated = admit::mutate(api, attributes, &self.warnings).await?;
        Ok(mutated.object.expect(HAS_OBJECT))
    }

    /// Sets the fields that the server sets, and takes those from the stored object that this write
    /// cannot change.
    fn prepare(&self, api: &Api, old: Option<&Object>, object: &mut Value) -> Result<(), Status> {
        match old {
            None => prepare_new(api, self.target, object),
            Some(old) => prepare_changed(self.target, self.writer.part, old, object),
        }
    }

    /// Rejects valid objects that this server does not support, and accepts definitions.
    fn accept(&self, api: &Api, old: Option<&Object>, object: &mut Value) -> Result<(), Status> {
        let resource = &self.target.resource;
        if let Some(why) = resource.strategy.unsupported(object) {
            return Err(Status::not_implemented(why));
        }
        if resource.is(&CUSTOM_RESOURCE_DEFINITION) && self.writer.part == Part::Main {
            definitions::accept(api, object, old);
        }
        Ok(())
    }

    /// Lets admission deny the object as it would be stored.
    async fn admit(&self, api: &Api, current: &Current, object: Value) -> Result<Value, Status> {
        let old = current.old();
        let (attributes, kept) = match self.admission {
            Admission::Nothing => return Ok(object),
            Admission::Object(request) => (self.attributes(request, old.cloned(), object), None),
            Admission::View(request, view) => {
                let old_view = old.map(|old| {
                    let value = view(self.target, old.value());
                    Arc::new(Object::new(value, old.revision()))
                });
                let new_view = view(self.target, &object);
                (self.attributes(request, old_view, new_view), Some(object))
            }
        };
        let admitted = admit::validate(api, attributes, &self.warnings).await?;
        Ok(kept.or(admitted.object).expect(HAS_OBJECT))
    }

    fn attributes(
        &self,
        request: &ApiRequest,
        old: Option<Arc<Object>>,
        object: Value,
    ) -> AdmissionAttributes {
        let operation = if old.is_some() {
            Operation::Update
        } else {
            Operation::Create
        };
        let (target, dry_run) = (self.target, self.dry_run);
        AdmissionAttributes {
            old,
            ..attributes(target, request, operation, dry_run, Some(object))
        }
    }
}

impl Current {
    /// The stored object in the version of the request.
    pub(crate) fn old(&self) -> Option<&Arc<Object>> {
        match self {
            Self::New => None,
            Self::Existing { old, .. } => Some(old),
        }
    }

    fn replaced<'a>(&'a self, guards: &'a [ObservedRevision]) -> Replaced<'a> {
        match self {
            Self::New => Replaced::New(guards),
            Self::Existing { stored, .. } => Replaced::Stored(stored),
        }
    }

    fn written(&self, object: Arc<Object>) -> Written {
        Written {
            object,
            is_created: matches!(self, Self::New),
        }
    }
}
