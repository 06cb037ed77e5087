use std::sync::Arc;

use http::StatusCode;
use kubewright_core::{Operation, Revision};
use kubewright_wire::status::{Cause, Status};
use serde_json::{Value, json};

use super::admit::Admit;
use super::answer::ApiResponse;
use super::create::{store_new, write_notices};
use super::execute::ApiRequest;
use super::metadata::{
    Part, accept_namespace, accept_new, check_name, keep_system_fields, split_parts, text,
};
use super::options::WriteOptions;
use super::ownership::{Writer, track};
use super::read::parse_unsigned;
use super::scale::scale_of;
use super::target::Target;
use super::{admission, commit, decode, validate, version};
use crate::admission::configuration_refusal;
use crate::crd;
use crate::kinds::{
    creates_on_update, drop_topology, keep_address, keep_finalizers, requires_revision,
};
use crate::may::{Attributes, Refusal, ResourceTarget, Target as AskedTarget};
use crate::seeded::SeededFault;
use crate::server::Server;
use crate::store::{Object, metadata_mut};

/// How often a write without a revision is tried again when others write in between.
pub(super) const ATTEMPTS: usize = 64;

/// Puts what was sent in the place of the stored object.
pub(super) async fn update(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    replace(server, target, request, Part::Main).await
}

/// The same for a part of the object.
pub(super) async fn replace(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
    part: Part,
) -> Result<ApiResponse, Status> {
    let options = WriteOptions::parse(&request.query, "UpdateOptions")?;
    let name = target.name()?;
    let validation = options.field_validation;
    let decoded = decode::object(target, &request.content, target.kind(), validation)?;
    let mut sent = decoded.value;
    request.warnings.add(decoded.warnings);
    let metadata = metadata_mut(&mut sent);
    accept_namespace(target, metadata)?;
    check_name(metadata, name)?;
    request
        .warnings
        .add(admission::drop_duplicate_owners(&mut sent));
    let absent = server.store().get(&target.key(name)).is_none();
    if absent && part == Part::Main && creates_on_update(target.kind()) {
        may_create(server, target, request).await?;
        return create_instead(server, target, request, sent).await;
    }
    let write = Write {
        target,
        admit: Admit::new(server, target, request, options.is_dry_run),
        writer: writer(server, request, &options, part),
    };
    let changed = write.change(server, name, |old| {
        check_conditions(target, old, &sent)?;
        Ok(sent.clone())
    });
    let object = changed.await?;
    request.warnings.add(write_notices(target));
    Ok(ApiResponse::object(StatusCode::OK, object))
}

/// Creating by PUT or apply needs the permission to create besides.
pub(super) async fn may_create(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
) -> Result<(), Status> {
    let resource = ResourceTarget {
        group: target.kind().group(),
        plural: &target.served.resource.plural,
        subresource: "",
        namespace: target.namespace.as_deref().unwrap_or_default(),
        name: target.name.as_deref().unwrap_or_default(),
    };
    let asked = Attributes {
        user: &request.user,
        verb: "create",
        target: AskedTarget::Resource(resource),
    };
    let authorized = server.authorize(&asked, Some((&request.route, &request.query)));
    authorized.await.map_err(|refusal| match refusal {
        Refusal::Forbidden(status) => *status,
        Refusal::Failed(why) => Status::internal(why),
    })
}

async fn create_instead(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
    mut value: Value,
) -> Result<ApiResponse, Status> {
    let options = WriteOptions::parse(&request.query, "UpdateOptions")?;
    accept_new(target, &mut value)?;
    let writer = writer(server, request, &options, Part::Main);
    let value = track(target, None, value, &writer);
    admission::may_grant(server, target, &request.user, None, &value)?;
    let admit = Admit::new(server, target, request, options.is_dry_run);
    let object = store_new(server, target, value, &admit).await?;
    request.warnings.add(write_notices(target));
    Ok(ApiResponse::object(StatusCode::CREATED, object))
}

pub(super) fn writer(
    server: &Server,
    request: &ApiRequest,
    options: &WriteOptions,
    part: Part,
) -> Writer {
    Writer {
        user: request.user.clone(),
        manager: options.manager(&request.user_agent),
        subresource: request.route.subresource.clone(),
        part,
        now: server.clock().now(),
        versions: Arc::default(),
    }
}

/// A PUT names the revision it was read at, where its kind demands that, and may name the uid.
fn check_conditions(target: &Target, old: &Object, sent: &Value) -> Result<(), Status> {
    let is_custom = target.served.custom().is_some();
    let version = sent["metadata"]["resourceVersion"]
        .as_str()
        .unwrap_or_default();
    let must_have = is_custom || requires_revision(target.kind());
    if version.is_empty() && must_have {
        let detail = "must be specified for an update";
        let cause = Cause::invalid("metadata.resourceVersion", &json!(0), detail);
        let (group, plural) = (target.kind().group(), &target.served.resource.plural);
        return Err(Status::invalid_as(group, plural, old.name(), vec![cause]));
    }
    let uid = sent["metadata"]["uid"].as_str().unwrap_or_default();
    if !uid.is_empty() && uid != old.uid() {
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: /registry{}, ResourceVersion: 0, \
             AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object \
             meta: {}",
            target.key(old.name()),
            old.uid()
        );
        return Err(Status::conflict_because(
            &target.served.resource,
            old.name(),
            &why,
        ));
    }
    Ok(())
}

/// An object that is about to be changed.
pub(super) struct Current {
    stored: Arc<Object>,
    /// The same in the version of the request.
    pub(super) old: Arc<Object>,
}

/// One write to a stored object, tried again when others write in between.
pub(super) struct Write<'a> {
    pub(super) target: &'a Target,
    pub(super) admit: Admit<'a>,
    pub(super) writer: Writer,
}

impl Write<'_> {
    /// Reads the object, has `change` make the new one, and takes it through the rest of the
    /// steps.
    pub(super) async fn change(
        &self,
        server: &Server,
        name: &str,
        change: impl Fn(&Object) -> Result<Value, Status> + Send + Sync,
    ) -> Result<Arc<Object>, Status> {
        self.change_owned(server, name, |old| {
            let mut value = change(old)?;
            self.check_revision(old, &value)?;
            keep_system_fields(old, &mut value);
            Ok(track(self.target, Some(old), value, &self.writer))
        })
        .await
    }

    /// The same for a change whose fields have their owners already.
    pub(super) async fn change_owned(
        &self,
        server: &Server,
        name: &str,
        change: impl Fn(&Object) -> Result<Value, Status> + Send + Sync,
    ) -> Result<Arc<Object>, Status> {
        for _ in 0..ATTEMPTS {
            let current = self.current(server, name).await?;
            let value = self.changed(server, || change(&current.old)).await?;
            if let Some(object) = self.finish(server, &current, value).await? {
                return Ok(object);
            }
        }
        Err(Status::conflict(&self.target.served.resource, name))
    }

    /// What is to be changed.
    pub(super) async fn current(&self, server: &Server, name: &str) -> Result<Current, Status> {
        let stored = server
            .store()
            .get(&self.target.key(name))
            .ok_or_else(|| self.target.not_found(name))?;
        // Everything up to the store happens in the version of the request.
        let old = version::in_request(server, self.target, Arc::clone(&stored)).await?;
        Ok(Current { stored, old })
    }

    /// Takes a changed object through the rest of the steps; none when others wrote in between.
    pub(super) async fn finish(
        &self,
        server: &Server,
        Current { stored, old }: &Current,
        mut value: Value,
    ) -> Result<Option<Arc<Object>>, Status> {
        if self.writer.part == Part::Main {
            admission::mutate(server, self.target, Some(old), &mut value)?;
        }
        let value = self.mutate(value, old).await?;
        let value = self.prepare(server, old, value)?;
        self.validate(&value, old).await?;
        if self.writer.part == Part::Main {
            let checked = (&value, self.admit.is_dry_run());
            admission::charge(server, self.target, Some(old), checked)?;
        }
        let value = version::to_stored(server, self.target, value).await?;
        commit::check_depth(&value)?;
        let dry_run = self.admit.is_dry_run();
        Ok(commit::update(server, self.target, stored, value, dry_run).ok())
    }

    /// The changed object, once all is known that its owners are told by.
    pub(super) async fn changed(
        &self,
        server: &Server,
        change: impl Fn() -> Result<Value, Status> + Send + Sync,
    ) -> Result<Value, Status> {
        loop {
            let changed = change();
            if !self.writer.versions.learn(server, self.target).await? {
                return changed;
            }
        }
    }

    /// What is no update of the object itself is asked about before, by its own kind.
    async fn mutate(&self, value: Value, old: &Object) -> Result<Value, Status> {
        match self.writer.subresource.as_deref() {
            Some("binding" | "scale") => Ok(value),
            _ => self.admit.mutate(Operation::Update, value, Some(old)).await,
        }
    }

    async fn validate(&self, value: &Value, old: &Object) -> Result<(), Status> {
        let (admit, target) = (&self.admit, self.target);
        match self.writer.subresource.as_deref() {
            Some("binding") => Ok(()),
            Some("scale") => {
                let (new, old) = (scale_of(target, value), scale_of(target, old.value()));
                admit.validate_part(new, old).await
            }
            _ => admit.validate(Operation::Update, value, Some(old)).await,
        }
    }

    /// Everything between a new value and the store.
    fn prepare(&self, server: &Server, old: &Object, mut value: Value) -> Result<Value, Status> {
        let target = self.target;
        self.check_revision(old, &value)?;
        keep_system_fields(old, &mut value);
        let is_main = self.writer.part == Part::Main;
        let part = match self.writer.part {
            Part::Status if server.has(SeededFault::StatusWritesSpec) => Part::Whole,
            part => part,
        };
        split_parts(target, part, old, &mut value);
        if target.served.is("", "Service") {
            keep_address(old, &mut value);
        }
        if target.served.is("", "Namespace") && is_main {
            keep_finalizers(old.value(), &mut value);
        }
        if target.served.is("discovery.k8s.io", "EndpointSlice") {
            drop_topology(value.get_mut("endpoints"));
        }
        admission::may_grant(server, target, &self.writer.user, Some(old), &value)?;
        let warnings = validate::update(target, self.writer.part, old, &value)?;
        self.admit.warn(warnings);
        configuration_refusal(target.kind(), &value)?;
        if target
            .served
            .is("apiextensions.k8s.io", "CustomResourceDefinition")
            && is_main
        {
            crd::accept(server, &mut value, Some(old))?;
        }
        if is_main {
            let checked = (&value, self.admit.is_dry_run());
            admission::validate(server, target, Some(old), checked)?;
        }
        Ok(value)
    }

    /// A revision in the object is a condition: it must be the stored one.
    pub(super) fn check_revision(&self, old: &Object, value: &Value) -> Result<(), Status> {
        let metadata = value["metadata"].as_object();
        let version = metadata.map(|metadata| text(metadata, "resourceVersion"));
        let version = version.unwrap_or_default();
        if version.is_empty() {
            return Ok(());
        }
        let revision = parse_unsigned(&version).map_err(Status::unknown)?;
        if revision == old.revision() || revision == Revision::default() {
            return Ok(());
        }
        Err(Status::conflict(&self.target.served.resource, old.name()))
    }
}
