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
use super::{Catalog, DiskCache, Served};
use crate::Error;

/// What a server serves, asked once and remembered. Cloning shares it.
#[derive(Clone)]
pub struct Discovery {
    client: Client,
    disk: Option<DiskCache>,
    lasts: Option<Duration>,
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    catalog: Option<Arc<Catalog>>,
    /// When it came into memory.
    since: Option<Instant>,
    /// Whether files are not believed any more.
    invalidated: bool,
}

impl Discovery {
    /// Remembers in memory alone.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            disk: None,
            lasts: None,
            known: Arc::default(),
        }
    }

    /// The same, and remembers in files.
    #[must_use]
    pub fn on_disk(self, disk: DiskCache) -> Self {
        Self {
            disk: Some(disk),
            ..self
        }
    }

    /// The same, and asks the server again when what is remembered is older; without it, only
    /// when something is looked for and not found.
    ///
    /// For whoever must learn of kinds that are gone, or that got other verbs or short names. What
    /// files hold has a time of its own: [`DiskCache::lasting`].
    #[must_use]
    pub fn lasting(self, lasts: Duration) -> Self {
        Self {
            lasts: Some(lasts),
            ..self
        }
    }

    /// What is served, as far as is known: from memory, from files, or from the server.
    ///
    /// # Cancel safety
    ///
    /// Dropped, nothing is remembered.
    pub async fn catalog(&self) -> Result<Arc<Catalog>, Error> {
        {
            let mut known = self.known.lock();
            if self.is_outdated(&known) {
                known.catalog = None;
                known.invalidated = true;
            }
            if let Some(catalog) = &known.catalog {
                return Ok(Arc::clone(catalog));
            }
            let disk = self.disk.as_ref().filter(|_| !known.invalidated);
            if let Some(catalog) = disk.and_then(DiskCache::read) {
                let catalog = Arc::new(catalog);
                known.catalog = Some(Arc::clone(&catalog));
                known.since = Some(Instant::now());
                return Ok(catalog);
            }
        }
        self.refresh().await
    }

    /// Asks the server, whatever is remembered.
    ///
    /// # Cancel safety
    ///
    /// Dropped, what was remembered stays.
    pub async fn refresh(&self) -> Result<Arc<Catalog>, Error> {
        let catalog = Arc::new(fetch(&self.client).await?);
        if let Some(disk) = &self.disk
            && let Err(error) = disk.write(&catalog)
        {
            // It is only a cache.
            tracing::debug!(%error, folder = %disk.folder().display(), "keep what is served");
        }
        *self.known.lock() = Known {
            catalog: Some(Arc::clone(&catalog)),
            since: Some(Instant::now()),
            invalidated: true,
        };
        Ok(catalog)
    }

    /// Forgets what is remembered, also in files.
    pub fn invalidate(&self) {
        *self.known.lock() = Known {
            catalog: None,
            since: None,
            invalidated: true,
        };
    }

    /// What somebody calls it, see [`Catalog::resolve`]; one that is not known is looked for on
    /// the server.
    ///
    /// # Cancel safety
    ///
    /// Dropped, what was remembered stays.
    pub async fn find(&self, name: &str) -> Result<Option<Served>, Error> {
        self.look(|catalog| catalog.resolve(name)).await
    }

    /// The kind of this very version; one that is not known is looked for on the server.
    ///
    /// # Cancel safety
    ///
    /// Dropped, what was remembered stays.
    pub async fn of_kind(&self, kind: &Kind) -> Result<Option<Served>, Error> {
        self.look(|catalog| catalog.of_kind(kind)).await
    }

    /// The OpenAPI v3 document of an API such as `v1` or `apps/v1`, as the server has it now; none
    /// when it has none. It is large, and is not remembered.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the request is given up.
    pub async fn open_api(&self, api_version: &str) -> Result<Option<Value>, Error> {
        open_api(&self.client, api_version).await
    }

    fn is_outdated(&self, known: &Known) -> bool {
        let age = known.since.map(|since| since.elapsed());
        self.lasts.zip(age).is_some_and(|(lasts, age)| age >= lasts)
    }

    async fn look(
        &self,
        find: impl Fn(&Catalog) -> Option<Served>,
    ) -> Result<Option<Served>, Error> {
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
