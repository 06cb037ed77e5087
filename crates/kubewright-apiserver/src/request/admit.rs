use std::sync::Arc;

use kubewright_core::{Operation, WebhookKind};
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::execute::ApiRequest;
use super::target::Target;
use super::{Warnings, admission, decode};
use crate::admission::matching::Attributes;
use crate::admission::{Between, Change, ask, change, is_asked};
use crate::server::Server;
use crate::store::Object;

/// Takes one write past the admission policies and webhooks, which may tell its client something.
#[derive(Debug)]
pub(super) struct Admit<'a> {
    server: &'a Server,
    target: &'a Target,
    /// None for what the server writes itself, which nobody is asked about.
    request: Option<&'a ApiRequest>,
    is_dry_run: bool,
    warnings: Warnings,
}

impl<'a> Admit<'a> {
    pub(super) fn new(
        server: &'a Server,
        target: &'a Target,
        request: &'a ApiRequest,
        is_dry_run: bool,
    ) -> Self {
        Self {
            request: Some(request),
            warnings: request.warnings.clone(),
            ..Self::unasked(server, target, is_dry_run)
        }
    }

    /// A write of the server itself, such as an eviction's: nobody is asked.
    pub(super) fn unasked(server: &'a Server, target: &'a Target, is_dry_run: bool) -> Self {
        Self {
            server,
            target,
            request: None,
            is_dry_run,
            warnings: Warnings::default(),
        }
    }

    /// The request, when there are policies or webhooks of that kind to ask about it.
    fn asked(&self, kind: WebhookKind) -> Option<&'a ApiRequest> {
        let is_used = |_: &&ApiRequest| is_asked(self.server, kind);
        self.request.filter(is_used)
    }

    /// The object of a create or update, as the mutating policies and webhooks want it.
    pub(super) async fn mutate(
        &self,
        operation: Operation,
        object: Value,
        old: Option<&Object>,
    ) -> Result<Value, Status> {
        let Some(request) = self.asked(WebhookKind::Mutating) else {
            return Ok(object);
        };
        let is_main = request.route.subresource.is_none();
        let plugins = |value: &mut Value| match is_main {
            true => admission::mutate(self.server, self.target, old, value),
            false => Ok(()),
        };
        let old = old.map(|old| old.value().clone());
        let attributes = self.attributes(request, operation, Some(object), old);
        self.changed(attributes, &plugins).await
    }

    /// The same for a part of an object that has a kind of its own, such as its scale.
    pub(super) async fn mutate_part(&self, object: Value, old: Value) -> Result<Value, Status> {
        let Some(request) = self.asked(WebhookKind::Mutating) else {
            return Ok(object);
        };
        let attributes = self.attributes(request, Operation::Update, Some(object), Some(old));
        self.changed(attributes, &|_: &mut Value| Ok(())).await
    }

    async fn changed(
        &self,
        mut attributes: Attributes,
        plugins: Change<'_>,
    ) -> Result<Value, Status> {
        let kind = attributes.kind.clone();
        let conform = |value: &mut Value| decode::conform_patched(self.target, value, &kind);
        let conform_strictly = |value: &mut Value| decode::conform_all(self.target, value, &kind);
        let between = Between {
            conform: &conform,
            conform_strictly: &conform_strictly,
            plugins,
        };
        change(self.server, &mut attributes, &self.warnings, between).await?;
        Ok(attributes.object.unwrap_or_default())
    }

    /// Asks the validating policies and webhooks about an object as it would be stored.
    pub(super) async fn validate(
        &self,
        operation: Operation,
        object: &Value,
        old: Option<&Object>,
    ) -> Result<(), Status> {
        let Some(request) = self.asked(WebhookKind::Validating) else {
            return Ok(());
        };
        let old = old.map(|old| old.value().clone());
        let attributes = self.attributes(request, operation, Some(object.clone()), old);
        ask(self.server, &attributes, &self.warnings).await
    }

    /// The same for a part of an object that has a kind of its own.
    pub(super) async fn validate_part(&self, object: Value, old: Value) -> Result<(), Status> {
        let Some(request) = self.asked(WebhookKind::Validating) else {
            return Ok(());
        };
        let attributes = self.attributes(request, Operation::Update, Some(object), Some(old));
        ask(self.server, &attributes, &self.warnings).await
    }

    /// Asks both kinds of policies and webhooks about a deletion.
    pub(super) async fn delete(&self, old: &Object) -> Result<(), Status> {
        let mutating = self.asked(WebhookKind::Mutating);
        let Some(request) = mutating.or_else(|| self.asked(WebhookKind::Validating)) else {
            return Ok(());
        };
        let old = Some(old.value().clone());
        let mut attributes = self.attributes(request, Operation::Delete, None, old);
        let nothing = |_: &mut Value| Ok(());
        let between = Between {
            conform: &nothing,
            conform_strictly: &nothing,
            plugins: &nothing,
        };
        change(self.server, &mut attributes, &self.warnings, between).await?;
        ask(self.server, &attributes, &self.warnings).await
    }

    pub(super) fn is_dry_run(&self) -> bool {
        self.is_dry_run
    }

    /// Tells the client something.
    pub(super) fn warn(&self, warnings: Vec<String>) {
        self.warnings.add(warnings);
    }

    fn attributes(
        &self,
        request: &ApiRequest,
        operation: Operation,
        object: Option<Value>,
        old: Option<Value>,
    ) -> Attributes {
        let subresource = request.route.subresource.clone().unwrap_or_default();
        let kind = match self.target.served.subresource(&subresource) {
            Some(part) => part.kind.clone(),
            None => self.target.kind().clone(),
        };
        let name = match (&self.target.name, &object) {
            (Some(name), _) => name.clone(),
            (None, Some(object)) => {
                let name = object["metadata"]["name"].as_str();
                name.unwrap_or_default().to_owned()
            }
            (None, None) => String::new(),
        };
        let namespace = match self.target.served.is("", "Namespace") {
            true => name.clone(),
            false => self.target.namespace.clone().unwrap_or_default(),
        };
        Attributes {
            served: Arc::clone(&self.target.served),
            subresource,
            operation,
            name,
            namespace,
            user: request.user.clone(),
            is_dry_run: self.is_dry_run,
            options: self.options(request, operation),
            object,
            old,
            kind,
        }
    }

    /// The options of the request as an object.
    fn options(&self, request: &ApiRequest, operation: Operation) -> Value {
        let kind = match operation {
            Operation::Create => "CreateOptions",
            Operation::Update => "UpdateOptions",
            Operation::Delete => "DeleteOptions",
            Operation::Connect => return Value::Null,
        };
        let mut options = match operation {
            Operation::Delete => decode::parse(&request.content).unwrap_or_default(),
            _ => Value::Null,
        };
        if !options.is_object() {
            options = json!({});
        }
        options["apiVersion"] = json!("meta.k8s.io/v1");
        options["kind"] = json!(kind);
        for name in ["fieldManager", "fieldValidation"] {
            let value = request.query.get(name).unwrap_or_default();
            if !value.is_empty() && operation != Operation::Delete {
                options[name] = json!(value);
            }
        }
        if self.is_dry_run {
            options["dryRun"] = json!(["All"]);
        }
        options
    }
}
