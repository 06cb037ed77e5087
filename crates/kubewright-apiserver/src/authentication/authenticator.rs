//! Authenticates requests, and issues and reviews tokens, over the stored ServiceAccounts.

use std::sync::Arc;

use http::HeaderMap;
use jiff::Timestamp;
use kubewright_kinds::BuiltinKind;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::credentials::{Credentials, authenticate};
use super::token::TokenSigner;
use super::token_request::{TokenRequest, issue_token};
use super::token_review::review_token;
use super::user::User;
use crate::store::{Key, Object, Store};

/// Authenticates requests over a store.
#[derive(Debug)]
pub(crate) struct Authenticator {
    store: Store,
    signer: Arc<TokenSigner>,
}

impl Authenticator {
    /// Signs tokens with a key of its own.
    pub(crate) fn new(store: Store) -> Self {
        Self {
            store,
            signer: Arc::default(),
        }
    }

    /// Signs tokens with a stored key, so that tokens of earlier runs stay valid.
    #[cfg(feature = "disk")]
    pub(crate) fn signing_with(store: Store, key: Option<Vec<u8>>) -> Self {
        let signer = key.map(|key| TokenSigner::with_key(&key));
        Self {
            store,
            signer: Arc::new(signer.unwrap_or_default()),
        }
    }

    /// Authenticates over a fork of the store. Tokens that were issued before stay valid in both.
    pub(crate) fn fork(&self, store: Store) -> Self {
        Self {
            store,
            signer: Arc::clone(&self.signer),
        }
    }

    /// The user that sends a request; 401 for invalid or missing credentials.
    pub(crate) fn authenticate(
        &self,
        credentials: &Credentials,
        headers: &HeaderMap,
        now: Timestamp,
    ) -> Result<User, Status> {
        authenticate(
            credentials,
            headers,
            &self.signer,
            now,
            &|kind, namespace, name| self.uid(kind, namespace, name),
        )
    }

    /// Fills in a TokenReview.
    pub(crate) fn review_token(&self, body: Value, now: Timestamp) -> Result<Value, Status> {
        review_token(body, &self.signer, now, &|kind, namespace, name| {
            self.uid(kind, namespace, name)
        })
    }

    /// Fills in a TokenRequest for a ServiceAccount.
    pub(crate) fn issue_token(
        &self,
        request: TokenRequest<'_>,
        body: Value,
    ) -> Result<Value, Status> {
        issue_token(request, body, &self.signer, |kind, namespace, name| {
            self.object(kind, namespace, name)
                .map(|object| object.value().clone())
        })
    }

    fn uid(&self, kind: &BuiltinKind, namespace: &str, name: &str) -> Option<String> {
        self.object(kind, namespace, name)
            .map(|object| object.uid().to_owned())
    }

    fn object(&self, kind: &BuiltinKind, namespace: &str, name: &str) -> Option<Arc<Object>> {
        let key = Key::new(kind.resource_id(), Some(namespace), name);
        self.store.get(&key)
    }
}
