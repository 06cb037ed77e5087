use std::sync::Arc;

use http::{HeaderMap, Method};
use jiff::Timestamp;
use kubewright_wire::route::Route;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::policies::Policies;
use super::rule::allows;
use super::rules_review::answer_rules_review;
use super::{Attributes, Decision, Grant, ResourceTarget, Review, Target, answer_review};
use crate::seeded::SeededFault;
use crate::server::timestamp;
use crate::store::{Key, Object, Store};
use crate::who::{
    Credentials, Impersonation, TokenRequest, TokenSigner, User, answer_token_request,
    answer_token_review, authenticate,
};

/// The two steps of a request that decide who sends it and whether he may: authentication and
/// authorization, over what is stored.
#[derive(Debug)]
pub(crate) struct Access {
    store: Store,
    signer: Arc<TokenSigner>,
    policies: Policies,
    seeded: Option<SeededFault>,
}

/// A request as these steps see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) method: &'a Method,
    pub(crate) route: &'a Route,
    pub(crate) headers: &'a HeaderMap,
}

impl Access {
    /// Decides over the roles, bindings and accounts of the given store.
    pub(crate) fn new(store: Store) -> Self {
        Self {
            signer: Arc::default(),
            policies: Policies::new(store.clone()),
            store,
            seeded: None,
        }
    }

    /// The same with a fault.
    pub(crate) fn seeded(mut self, fault: Option<SeededFault>) -> Self {
        self.seeded = fault;
        self
    }

    /// The same with a key for tokens that was made before.
    #[cfg(feature = "disk")]
    pub(crate) fn signing_with(store: Store, key: Option<Vec<u8>>) -> Self {
        let signer = key.map(|key| TokenSigner::with_key(&key));
        Self {
            signer: Arc::new(signer.unwrap_or_default()),
            ..Self::new(store)
        }
    }

    /// Decides over a fork of the store; tokens issued before stay valid in both.
    pub(crate) fn fork(&self, store: Store) -> Self {
        Self {
            signer: Arc::clone(&self.signer),
            seeded: self.seeded,
            ..Self::new(store)
        }
    }

    /// Who sends the request: whom its credentials name, or whom he asks to be and may be.
    pub(crate) fn who(
        &self,
        credentials: &Credentials,
        request: Envelope<'_>,
        now: Timestamp,
    ) -> Result<User, Status> {
        let headers = request.headers;
        let uid = |plural: &str, namespace: &str, name: &str| {
            self.object(plural, namespace, name)
                .map(|object| object.uid().to_owned())
        };
        let sender = authenticate(credentials, headers, &self.signer, now, &uid)?;
        match Impersonation::from_headers(headers)? {
            None => Ok(sender),
            Some(wanted) => {
                let verb = request.verb();
                wanted.admit(
                    &request.attributes(&sender, &verb),
                    &self.policies.current(),
                )
            }
        }
    }

    /// With the fault: a rule that names objects allows to create others.
    fn is_wrongly_allowed(&self, asked: &Attributes<'_>) -> bool {
        if self.seeded != Some(SeededFault::NamesAllowCreate) || asked.verb != "create" {
            return false;
        }
        let policy = self.policies.current();
        let (mut rules, _) = policy.rules_for(asked.user, asked.namespace());
        rules.iter_mut().any(|rule| {
            rule.resource_names.clear();
            allows(rule, asked)
        })
    }

    /// What the roles say.
    pub(crate) fn decide(&self, asked: &Attributes<'_>) -> Decision {
        // No role can say otherwise, so none is read.
        match asked.user.is_master() || self.is_wrongly_allowed(asked) {
            true => Decision {
                is_allowed: true,
                reason: String::new(),
            },
            false => self.policies.current().decide(asked),
        }
    }

    /// Whether the user may write a role or binding with what it gives; 403 when not.
    pub(crate) fn may_grant(&self, grant: &Grant<'_>) -> Result<(), Status> {
        grant.check(&self.policies)
    }

    /// Answers a review, which is created and never stored: the one that was sent, as of a time.
    pub(crate) fn review(
        &self,
        review: Review,
        user: &User,
        namespace: Option<&str>,
        (body, now): (Value, Timestamp),
    ) -> Result<Value, Status> {
        let policy = self.policies.current();
        match review {
            Review::SelfSubjectRules => return answer_rules_review(user, &body, &policy),
            Review::Token => {
                let directory = |plural: &str, namespace: &str, name: &str| {
                    let found = self.object(plural, namespace, name);
                    found.map(|object| object.uid().to_owned())
                };
                return answer_token_review(body, &self.signer, now, &directory);
            }
            _ => {}
        }
        let namespace = namespace.unwrap_or_default();
        let mut answer =
            answer_review(review, user, namespace, body, |asked| policy.decide(asked))?;
        if review == Review::SelfSubject {
            // The real server answers this one with an object of its own.
            answer["metadata"] = json!({"creationTimestamp": timestamp(now)});
        }
        Ok(answer)
    }

    /// Answers a TokenRequest for a ServiceAccount.
    pub(crate) fn token(&self, request: TokenRequest<'_>, body: Value) -> Result<Value, Status> {
        answer_token_request(request, body, &self.signer, |plural, namespace, name| {
            self.object(plural, namespace, name)
                .map(|object| object.value().clone())
        })
    }

    /// An object of the core group.
    fn object(&self, plural: &str, namespace: &str, name: &str) -> Option<Arc<Object>> {
        self.store.get(&Key::new(plural, Some(namespace), name))
    }
}

impl<'a> Envelope<'a> {
    /// The verb as roles spell it; for other paths it is the method.
    pub(crate) fn verb(&self) -> String {
        match self.route {
            Route::Resource(route) => route.verb.to_string(),
            Route::Path(_) => self.method.as_str().to_ascii_lowercase(),
        }
    }

    pub(crate) fn attributes(&self, user: &'a User, verb: &'a str) -> Attributes<'a> {
        let target = match self.route {
            Route::Path(path) => Target::Path(path),
            Route::Resource(route) => Target::Resource(ResourceTarget {
                group: &route.group,
                plural: &route.plural,
                subresource: route.subresource.as_deref().unwrap_or_default(),
                namespace: route.namespace.as_deref().unwrap_or_default(),
                name: route.name.as_deref().unwrap_or_default(),
            }),
        };
        Attributes { user, verb, target }
    }
}
