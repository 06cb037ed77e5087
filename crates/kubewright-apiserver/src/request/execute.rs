use bytes::Bytes;
use kubewright_core::{Resource, Scope, Verb};
use kubewright_wire::route::{Query, ResourceRoute};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::offload::Place;
use super::target::Target;
use super::{
    ApiResponse, Warnings, create, delete, list, patch, read, subresource, update, version, watch,
};
use crate::kinds::is_convertible;
use crate::may::Review;
use crate::server::Server;
use crate::table::{Form, shape};
use crate::who::User;

/// A request about objects, from a client or from a part of the cluster itself.
#[derive(Clone, Debug)]
pub struct ApiRequest {
    /// Who sends it. Whether he may is decided before; here he is only named where objects or
    /// further checks name him.
    pub user: User,
    /// What is to be done to what.
    pub route: ResourceRoute,
    /// The parameters of the URL.
    pub query: Query,
    /// How `content` changes the object, for a patch.
    pub patch: Option<PatchKind>,
    /// The body.
    pub content: Content,
    /// The form of the answer.
    pub form: Form,
    /// The program that sends it; it owns the fields that are written, unless the parameter
    /// `fieldManager` names another.
    pub user_agent: String,
    /// What its sender is told besides the answer.
    pub warnings: Warnings,
}

/// The body of a request.
#[derive(Clone, Debug, Default)]
pub enum Content {
    /// There is none.
    #[default]
    Empty,
    /// A value, from inside the process.
    Value(Value),
    /// JSON text.
    Json(Bytes),
    /// YAML text.
    Yaml(Bytes),
    /// Kubernetes' protobuf.
    Protobuf(Bytes),
}

impl Content {
    /// How many bytes were sent; 0 for values from inside the process.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Empty | Self::Value(_) => 0,
            Self::Json(bytes) | Self::Yaml(bytes) | Self::Protobuf(bytes) => bytes.len(),
        }
    }
}

/// The four ways to change an object without sending it whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// `application/json-patch+json`, RFC 6902.
    Json,
    /// `application/merge-patch+json`, RFC 7386.
    Merge,
    /// `application/strategic-merge-patch+json`, which knows the lists of the built-in kinds.
    StrategicMerge,
    /// `application/apply-patch+yaml`, server-side apply.
    Apply,
}

impl ApiRequest {
    /// A request about one object of a resource, or about a collection when `name` is none.
    pub fn new(
        user: User,
        verb: Verb,
        resource: &Resource,
        namespace: Option<&str>,
        name: Option<&str>,
    ) -> Self {
        let namespace = namespace.filter(|_| resource.scope == Scope::Namespaced);
        let user_agent = user.name.clone();
        Self {
            user,
            route: ResourceRoute {
                verb,
                group: resource.kind.group().to_owned(),
                version: resource.kind.version().to_owned(),
                plural: resource.plural.clone(),
                namespace: namespace.map(str::to_owned),
                name: name.map(str::to_owned),
                subresource: None,
                rest: None,
            },
            query: Query::default(),
            patch: None,
            content: Content::Empty,
            form: Form::Whole,
            user_agent,
            warnings: Warnings::default(),
        }
    }

    /// The same about a part of the object, such as `status`.
    #[must_use]
    pub fn subresource(mut self, name: &str) -> Self {
        self.route.subresource = Some(name.to_owned());
        self
    }

    /// The same with a body.
    #[must_use]
    pub fn body(mut self, value: Value) -> Self {
        self.content = Content::Value(value);
        self
    }

    /// The same with a patch as its body.
    #[must_use]
    pub fn patch(mut self, kind: PatchKind, value: Value) -> Self {
        self.patch = Some(kind);
        self.body(value)
    }

    /// The same with parameters, spelled as in a URL: `fieldManager=me&dryRun=All`.
    #[must_use]
    pub fn parameters(mut self, text: &str) -> Self {
        self.query = Query::parse(text);
        self
    }
}

impl Server {
    /// Does what a request asks: the one door to the store for clients and for the parts of the
    /// cluster itself.
    ///
    /// # Cancel safety
    ///
    /// A write has either happened whole or not at all.
    pub async fn execute(&self, request: ApiRequest) -> Result<ApiResponse, Status> {
        #[cfg(feature = "disk")]
        let losses = self.store().losses();
        let answer = self.answer(request).await;
        // No response shows what could still be lost.
        #[cfg(feature = "disk")]
        if let Err(why) = self.store().settled(losses).await {
            return Err(not_stored(&why));
        }
        answer
    }

    async fn answer(&self, request: ApiRequest) -> Result<ApiResponse, Status> {
        let snapshot = self.store().snapshot();
        let Some(served) = self.catalog().find(&snapshot, &request.route)? else {
            return Ok(ApiResponse::page_not_found());
        };
        let Some(target) = Target::new(served, &request.route)? else {
            return Ok(ApiResponse::page_not_found());
        };
        if !is_convertible(target.kind()) {
            return Err(Status::not_implemented(format!(
                "conversion of {} from its stored version is not implemented yet",
                target.kind()
            )));
        }
        let is_review = Review::of(target.kind().group(), &target.served.resource.plural).is_some();
        if !target.served.is_stored() && !is_review {
            return Err(Status::not_implemented(format!(
                "{} is not implemented yet",
                target.served.resource.qualified_name()
            )));
        }
        if let Some(why) = self
            .store()
            .failure()
            .filter(|_| !is_review && stores(&request))
        {
            return Err(not_stored(&why));
        }
        let place = Place::of(self, &target, &request);
        let server = self.clone();
        // Boxed, because it is held in several places and most callers keep it on their stacks.
        let work = Box::pin(async move {
            let response = server.carry_out(&target, &request).await?;
            let response = version::shown(&server, &target, response).await?;
            shape(&server, &target.served, request.form, response)
        });
        self.workers().run(place, work).await
    }

    async fn carry_out(
        &self,
        target: &Target,
        request: &ApiRequest,
    ) -> Result<ApiResponse, Status> {
        if let Some(name) = &request.route.subresource {
            return subresource::execute(self, target, name, request).await;
        }
        if !target.served.has_verb(request.route.verb.as_str()) {
            return Err(Status::method_not_supported());
        }
        match request.route.verb {
            Verb::Get => read::get(self, target, request).await,
            Verb::List => list::list(self, target, request).await,
            Verb::Watch => watch::watch(self, target, request),
            Verb::Create => create::create(self, target, request).await,
            Verb::Update => update::update(self, target, request).await,
            Verb::Patch => patch::patch(self, target, request).await,
            Verb::Delete => delete::delete(self, target, request).await,
            Verb::DeleteCollection => delete::delete_collection(self, target, request).await,
            other => Err(Status::not_implemented(format!(
                "the verb {other} is not implemented yet"
            ))),
        }
    }
}

/// Whether a request changes what is stored.
fn stores(request: &ApiRequest) -> bool {
    let is_token = request.route.subresource.as_deref() == Some("token");
    let is_read = matches!(request.route.verb, Verb::Get | Verb::List | Verb::Watch);
    !is_read && !is_token
}

fn not_stored(why: &str) -> Status {
    Status::internal(format!(
        "{why}; nothing was stored, and writes fail until the data folder can be written again"
    ))
}
