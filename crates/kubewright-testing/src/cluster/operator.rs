use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use kube::core::{ApiResource, GroupVersionKind};
use kubewright::{Candidacy, Operator, RunOptions, Running};
use kubewright_apiserver::User;
use kubewright_core::Description;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::failure::{Chain, fail};
use super::handle::Cluster;
use super::usage::note_used;
use super::webhooks::{CertificateMaker, WebhookWiring};
use crate::Error;
use crate::faults::Door;

/// An operator under test: how it is made, and its present run.
pub(super) struct UnderTest {
    make: Arc<dyn Fn() -> Operator + Send + Sync>,
    account: User,
    webhooks: Option<WebhookWiring>,
    running: Option<Running>,
    /// The way out of the present run.
    door: Door,
}

impl UnderTest {
    /// Ends the present run: in order, unless it has crashed.
    async fn end(&mut self) {
        let Some(running) = self.running.take() else {
            return;
        };
        match self.door.is_closed() {
            true => drop(running),
            false => running.stop().await,
        }
    }
}

impl fmt::Debug for UnderTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnderTest")
            .field("account", &self.account.name)
            .finish_non_exhaustive()
    }
}

impl Cluster {
    /// Installs an operator and runs it until the test ends.
    ///
    /// What its `manifests` print is applied, and it runs under that ServiceAccount and role: a
    /// request that these do not allow fails the test at its end, even where the operator goes on
    /// as if nothing were. Its webhooks are served where the cluster calls them, and each mutator is
    /// called twice and must not change what it made itself. Returns once its caches are filled.
    ///
    /// On an existing cluster with `KUBEWRIGHT_TEST_OPERATOR=deployed` nothing is installed: the
    /// operator is the one that the Deployment of its name runs there, and is waited for.
    ///
    /// # Panics
    ///
    /// When it cannot be installed or does not get ready.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the operator may be installed and does not run.
    #[track_caller]
    pub fn run<F>(&self, operator: F) -> impl Future<Output = ()>
    where
        F: Fn() -> Operator + Send + Sync + 'static,
    {
        self.run_with(Arc::new(operator), CertificateMaker::Kit)
    }

    /// Installs and runs an operator as [`run`](Self::run) does, but has it make and renew the
    /// certificate of its webhooks itself, as where it is deployed.
    ///
    /// # Panics
    ///
    /// When it cannot be installed or does not get ready.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the operator may be installed and does not run.
    #[track_caller]
    pub fn run_managed<F>(&self, operator: F) -> impl Future<Output = ()>
    where
        F: Fn() -> Operator + Send + Sync + 'static,
    {
        self.run_with(Arc::new(operator), CertificateMaker::Operator)
    }

    #[track_caller]
    fn run_with(
        &self,
        operator: Arc<dyn Fn() -> Operator + Send + Sync>,
        maker: CertificateMaker,
    ) -> impl Future<Output = ()> {
        let location = Location::caller();
        async move {
            let started = match self.shared.backend.runs_operator() {
                true => self.find_deployed(&operator().description()).await,
                false => self.run_here(operator, maker).await,
            };
            if let Err(error) = started {
                fail(location, Chain(&error));
            }
        }
    }

    async fn run_here(
        &self,
        make: Arc<dyn Fn() -> Operator + Send + Sync>,
        maker: CertificateMaker,
    ) -> Result<(), Error> {
        let choice = self.shared.backend.choice();
        let webhooks = WebhookWiring::new(choice, &make().description(), maker).await?;
        self.run_wired(make, webhooks).await
    }

    /// The same with a place for its webhooks that was chosen before.
    pub(super) async fn run_wired(
        &self,
        make: Arc<dyn Fn() -> Operator + Send + Sync>,
        webhooks: Option<WebhookWiring>,
    ) -> Result<(), Error> {
        let under_test = self.install(make, webhooks).await?;
        let under_test = self.start(under_test).await?;
        self.shared.operators.lock().push(under_test);
        Ok(())
    }

    /// Stops each operator under test and starts it again, with empty caches; one that has
    /// crashed or was killed is only started.
    ///
    /// # Panics
    ///
    /// When one does not get ready again.
    ///
    /// # Cancel safety
    ///
    /// When dropped, operators that were stopped stay so.
    #[track_caller]
    pub fn restart_operator(&self) -> impl Future<Output = ()> {
        let location = Location::caller();
        async move {
            self.needs_own_operator("start anew");
            for under_test in self.stop_operators().await {
                match self.start(under_test).await {
                    Ok(under_test) => self.shared.operators.lock().push(under_test),
                    Err(error) => fail(location, Chain(&error)),
                }
            }
        }
    }

    /// Stops each operator under test; [`restart_operator`](Self::restart_operator) starts none
    /// of them again.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the operators end at once, in the middle of what they do.
    pub async fn stop_operator(&self) {
        self.needs_own_operator("stop");
        drop(self.stop_operators().await);
    }

    /// Ends each operator under test at once, in the middle of what it does;
    /// [`restart_operator`](Self::restart_operator) starts them again.
    pub fn kill_operator(&self) {
        self.needs_own_operator("kill");
        for under_test in &mut *self.shared.operators.lock() {
            under_test.running = None;
        }
    }

    async fn stop_operators(&self) -> Vec<UnderTest> {
        let mut operators = std::mem::take(&mut *self.shared.operators.lock());
        for under_test in &mut operators {
            under_test.end().await;
        }
        operators
    }

    /// Ends the test on this cluster: what an operator was refused fails it, and a fault that
    /// never happened.
    pub(crate) async fn finish(&self) -> Result<(), Error> {
        drop(self.stop_operators().await);
        note_used(&self.shared.refusals.used())?;
        let refused = self.shared.refusals.take();
        let unmet = self.shared.script.take_unmet();
        let closed = self.close().await;
        if !refused.is_empty() {
            return Err(Error::Refused {
                requests: refused.into_iter().collect::<Vec<_>>().join(", "),
            });
        }
        if !unmet.is_empty() {
            return Err(Error::Unmet {
                faults: unmet.join("; "),
            });
        }
        closed
    }

    /// Applies what the operator's `manifests` print.
    async fn install(
        &self,
        make: Arc<dyn Fn() -> Operator + Send + Sync>,
        webhooks: Option<WebhookWiring>,
    ) -> Result<UnderTest, Error> {
        let description = make().description();
        let options = webhooks.as_ref().map(WebhookWiring::options);
        let options = options.unwrap_or_default();
        self.serves_policies(&description).await?;
        let objects = kubewright_manifest::objects(&description, &options);
        let mut account = None;
        for object in &objects {
            self.install_object(object).await?;
            if object["kind"] == "ServiceAccount" {
                let part = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
                account = Some(User::service_account(part("namespace"), part("name")));
            }
        }
        let account = account.ok_or_else(|| Error::Unsupported {
            asked: format!("run operator {}", description.name),
            why: "its manifests hold no ServiceAccount to run as",
        })?;
        self.permitted(&description, &account).await?;
        let secret = webhooks.as_ref().and_then(|one| one.secret(&description));
        if let Some((namespace, name)) = secret {
            let read = json!({"namespace": namespace, "name": name, "group": "",
                "resource": "secrets", "verb": "get"});
            self.allowed(&account, &read).await?;
        }
        self.webhooks_act(&description).await?;
        self.policies_act(&description).await?;
        Ok(UnderTest {
            make,
            account,
            webhooks,
            running: None,
            door: Door::default(),
        })
    }

    async fn install_object(&self, object: &Value) -> Result<(), Error> {
        let (kind, path) = self.path_of(object).await?;
        let mut object = object.clone();
        self.shared.backend.claim(&mut object, &path).await?;
        let object = &object;
        let tried = || format!("install {kind} {}", object["metadata"]["name"]);
        self.send(
            "APPLY",
            &format!("{path}?fieldManager=kubewright-test&force=true"),
            object,
        )
        .await
        .map_err(failed(tried()))?;
        if kind != "CustomResourceDefinition" {
            return Ok(());
        }
        self.until(&tried(), async || {
            let stored = self.read(&path).await.map_err(failed(tried()))?;
            let conditions = stored["status"]["conditions"].as_array();
            let mut conditions = conditions.into_iter().flatten();
            let established =
                conditions.any(|one| one["type"] == "Established" && one["status"] == "True");
            Ok((!established).then(|| "not Established".to_owned()))
        })
        .await
    }

    /// The kind and path of an object, as the server's discovery tells.
    async fn path_of(&self, object: &Value) -> Result<(String, String), Error> {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        let version = kubewright_core::GroupVersion::from_api_version(text("apiVersion"));
        let kind = GroupVersionKind::gvk(&version.group, &version.version, text("kind"));
        let plural = self.plural(&kind).await?;
        let metadata = &object["metadata"];
        let root = if version.group.is_empty() {
            "/api"
        } else {
            "/apis"
        };
        let namespace = metadata["namespace"].as_str();
        let namespace = namespace
            .map(|name| format!("/namespaces/{name}"))
            .unwrap_or_default();
        let name = metadata["name"].as_str().unwrap_or_default();
        let path = format!("{root}/{version}{namespace}/{plural}/{name}");
        Ok((kind.kind, path))
    }

    /// What the server calls a kind in its paths. It is asked once in the life of the process for
    /// the kinds of Kubernetes itself, which are the same on every cluster.
    pub(super) async fn plural(&self, kind: &GroupVersionKind) -> Result<String, Error> {
        static KNOWN: Mutex<BTreeMap<(String, String), String>> = Mutex::new(BTreeMap::new());

        let key = (kind.api_version(), kind.kind.clone());
        if let Some(plural) = KNOWN.lock().get(&key) {
            return Ok(plural.clone());
        }
        let found = kube::discovery::pinned_kind(&self.client, kind).await;
        let (resource, _): (ApiResource, _) =
            found.map_err(failed(format!("ask how {} is served", kind.kind)))?;
        if kind.group.is_empty() || kind.group.ends_with(".k8s.io") {
            KNOWN.lock().insert(key, resource.plural.clone());
        }
        Ok(resource.plural)
    }

    /// Waits until the server acts on the new role: it learns of roles by watching them.
    async fn permitted(&self, description: &Description, account: &User) -> Result<(), Error> {
        let place = description.namespaces.first();
        let rules = match place {
            Some(_) => description.namespace_rules(),
            None => description.rules(),
        };
        let first = |list: &[String]| list.first().cloned();
        let Some((rule, resource)) = rules
            .iter()
            .find_map(|rule| Some((rule, first(&rule.resources)?)))
        else {
            return Ok(());
        };
        let (resource, subresource) = resource.split_once('/').unwrap_or((&resource, ""));
        let attributes = json!({
            "namespace": place,
            "group": first(&rule.api_groups),
            "resource": resource,
            "subresource": subresource,
            "verb": first(&rule.verbs),
        });
        self.allowed(account, &attributes).await
    }

    /// Waits until the server lets an account do something.
    async fn allowed(&self, account: &User, attributes: &Value) -> Result<(), Error> {
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": account.name,
                "groups": account.groups,
                "resourceAttributes": attributes,
            },
        });
        let tried = format!("wait until {} may work", account.name);
        self.until(&tried, async || {
            let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
            let answer = self.send("POST", path, &review).await;
            let answer = answer.map_err(failed(tried.clone()))?;
            Ok((answer["status"]["allowed"] != true).then(|| "not allowed".to_owned()))
        })
        .await
    }

    async fn start(&self, mut under_test: UnderTest) -> Result<UnderTest, Error> {
        let operator = (under_test.make)();
        let name = operator.name().to_owned();
        let failed = |source: kubewright::Error| Error::Operator {
            name: name.clone(),
            source: Box::new(source),
        };
        let refusals = &self.shared.refusals;
        let backend = &self.shared.backend;
        let door = Door::new(&self.shared.script);
        let client = backend
            .client(&under_test.account, &self.namespace, refusals, &door)
            .await?;
        let webhooks = match &under_test.webhooks {
            Some(wiring) => Some(wiring.serving(backend).await?),
            None => None,
        };
        let options = RunOptions {
            clock: self.clock(),
            webhooks,
            candidacy: candidacy(&operator, &under_test.account),
            namespace: home(&under_test.account).map(str::to_owned),
            ..RunOptions::default()
        };
        let running = operator.start(client, options).map_err(failed)?;
        refusals.include(running.permissions());
        let start = Instant::now();
        let ready = self.within(start + self.shared.patience, running.ready());
        if let Err(ended) = ready.await {
            let refused = refusals.take().into_iter().collect::<Vec<_>>().join(", ");
            return Err(Error::Waited {
                what: format!("operator {name} to fill its caches"),
                waited: start.elapsed(),
                last: format!("refused as forbidden: [{refused}]{ended}"),
            });
        }
        under_test.running = Some(running);
        under_test.door = door;
        Ok(under_test)
    }
}

/// An operator that can elect a leader does so, in the namespace of its account.
fn candidacy(operator: &Operator, account: &User) -> Option<Candidacy> {
    let namespace = home(account)?;
    operator.elects_leader().then(|| Candidacy::new(namespace))
}

fn home(account: &User) -> Option<&str> {
    account.as_service_account().map(|(namespace, _)| namespace)
}

fn failed(tried: String) -> impl FnOnce(kube::Error) -> Error {
    |source| Error::Request {
        tried,
        source: Box::new(source),
    }
}
