//! Discovery with a cache.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use kubewright_core::Kind;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::time::Instant;

use super::fetch::fetch;
use super::open_api::open_api;
use super::{Catalog, DiskCache, ServedKind};
use crate::Error;

/// The kinds that a server serves, requested once and cached. Clones share the cache.
#[derive(Clone)]
pub struct Discovery {
    client: Client,
    disk: Option<DiskCache>,
    max_age: Option<Duration>,
    cached: Arc<Mutex<Cached>>,
}

#[derive(Debug, Default)]
struct Cached {
    catalog: Option<Arc<Catalog>>,
    /// When the catalog was stored in memory.
    since: Option<Instant>,
    /// Whether the files are outdated.
    is_disk_outdated: bool,
}

impl Discovery {
    /// Discovery with a cache in memory.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            disk: None,
            max_age: None,
            cached: Arc::default(),
        }
    }

    /// Caches the documents in files as well.
    #[must_use]
    pub fn on_disk(self, disk: DiskCache) -> Self {
        Self {
            disk: Some(disk),
            ..self
        }
    }

    /// Sets the age at which the cached documents are requested again. Without it, they are
    /// requested again only when a kind is not found.
    ///
    /// Use it to notice kinds that were deleted, or whose verbs or short names have changed. Files
    /// have a maximum age of their own: [`DiskCache::max_age`].
    #[must_use]
    pub fn max_age(self, max_age: Duration) -> Self {
        Self {
            max_age: Some(max_age),
            ..self
        }
    }

    /// Returns the served kinds from memory, from files, or from the server.
    ///
    /// # Cancel safety
    ///
    /// When dropped, nothing is cached.
    pub async fn catalog(&self) -> Result<Arc<Catalog>, Error> {
        {
            let mut cached = self.cached.lock();
            if self.is_outdated(&cached) {
                cached.catalog = None;
                cached.is_disk_outdated = true;
            }
            if let Some(catalog) = &cached.catalog {
                return Ok(Arc::clone(catalog));
            }
            let disk = self.disk.as_ref().filter(|_| !cached.is_disk_outdated);
            if let Some(catalog) = disk.and_then(DiskCache::read) {
                let catalog = Arc::new(catalog);
                cached.catalog = Some(Arc::clone(&catalog));
                cached.since = Some(Instant::now());
                return Ok(catalog);
            }
        }
        self.refresh().await
    }

    /// Requests the served kinds from the server and caches them.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the cache does not change.
    pub async fn refresh(&self) -> Result<Arc<Catalog>, Error> {
        let catalog = Arc::new(fetch(&self.client).await?);
        if let Some(disk) = &self.disk
            && let Err(error) = disk.write(&catalog)
        {
            // The files are only a cache: the operation continues without them.
            tracing::debug!(%error, folder = %disk.folder().display(), "cache the discovery documents");
        }
        *self.cached.lock() = Cached {
            catalog: Some(Arc::clone(&catalog)),
            since: Some(Instant::now()),
            is_disk_outdated: true,
        };
        Ok(catalog)
    }

    /// Discards the cached documents, those in files included.
    pub fn invalidate(&self) {
        *self.cached.lock() = Cached {
            catalog: None,
            since: None,
            is_disk_outdated: true,
        };
    }

    /// Returns the kind with this name (see [`Catalog::resolve`]). When the cache does not contain
    /// it, the documents are requested again.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the cache does not change.
    pub async fn find(&self, name: &str) -> Result<Option<ServedKind>, Error> {
        self.find_or_refresh(|catalog| catalog.resolve(name)).await
    }

    /// Returns the kind in exactly this version. When the cache does not contain it, the documents
    /// are requested again.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the cache does not change.
    pub async fn of_kind(&self, kind: &Kind) -> Result<Option<ServedKind>, Error> {
        self.find_or_refresh(|catalog| catalog.of_kind(kind)).await
    }

    /// Requests the OpenAPI v3 document of an API such as `v1` or `apps/v1`; `None` when the server
    /// has none. The document is large and not cached.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request is cancelled.
    pub async fn open_api(&self, api_version: &str) -> Result<Option<Value>, Error> {
        open_api(&self.client, api_version).await
    }

    fn is_outdated(&self, cached: &Cached) -> bool {
        let age = cached.since.map(|since| since.elapsed());
        let limit = self.max_age.zip(age);
        limit.is_some_and(|(max_age, age)| age >= max_age)
    }

    async fn find_or_refresh(
        &self,
        find: impl Fn(&Catalog) -> Option<ServedKind>,
    ) -> Result<Option<ServedKind>, Error> {
        if let Some(found) = find(&*self.catalog().await?) {
            return Ok(Some(found));
        }
        Ok(find(&*self.refresh().await?))
    }
}

impl fmt::Debug for Discovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discovery")
            .field("disk", &self.disk)
            .finish_non_exhaustive()
    }
}
