use std::fmt;
use std::sync::Arc;

use kube::Client;
use kubewright_core::Kind;
use parking_lot::Mutex;

use super::fetch::fetch;
use super::{Catalogue, DiskCache, Served};
use crate::Error;

/// What a server serves, asked once and remembered. Cloning shares it.
#[derive(Clone)]
pub struct Discovery {
    client: Client,
    disk: Option<DiskCache>,
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    catalogue: Option<Arc<Catalogue>>,
    /// Whether files are not believed any more.
    invalidated: bool,
}

impl Discovery {
    /// Remembers in memory alone.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            disk: None,
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

    /// What is served, as far as is known: from memory, from files, or from the server.
    ///
    /// # Cancel safety
    ///
    /// Dropped, nothing is remembered.
    pub async fn catalogue(&self) -> Result<Arc<Catalogue>, Error> {
        {
            let mut known = self.known.lock();
            if let Some(catalogue) = &known.catalogue {
                return Ok(Arc::clone(catalogue));
            }
            let disk = self.disk.as_ref().filter(|_| !known.invalidated);
            if let Some(catalogue) = disk.and_then(DiskCache::read) {
                let catalogue = Arc::new(catalogue);
                known.catalogue = Some(Arc::clone(&catalogue));
                return Ok(catalogue);
            }
        }
        self.refresh().await
    }

    /// Asks the server, whatever is remembered.
    ///
    /// # Cancel safety
    ///
    /// Dropped, what was remembered stays.
    pub async fn refresh(&self) -> Result<Arc<Catalogue>, Error> {
        let catalogue = Arc::new(fetch(&self.client).await?);
        if let Some(disk) = &self.disk
            && let Err(error) = disk.write(&catalogue)
        {
            // It is only a cache.
            tracing::debug!(%error, folder = %disk.folder().display(), "keep what is served");
        }
        *self.known.lock() = Known {
            catalogue: Some(Arc::clone(&catalogue)),
            invalidated: true,
        };
        Ok(catalogue)
    }

    /// Forgets what is remembered, also in files.
    pub fn invalidate(&self) {
        *self.known.lock() = Known {
            catalogue: None,
            invalidated: true,
        };
    }

    /// What somebody calls it, see [`Catalogue::resolve`]; one that is not known is looked for on
    /// the server.
    ///
    /// # Cancel safety
    ///
    /// Dropped, what was remembered stays.
    pub async fn find(&self, name: &str) -> Result<Option<Served>, Error> {
        self.look(|catalogue| catalogue.resolve(name)).await
    }

    /// The kind of this very version; one that is not known is looked for on the server.
    ///
    /// # Cancel safety
    ///
    /// Dropped, what was remembered stays.
    pub async fn of_kind(&self, kind: &Kind) -> Result<Option<Served>, Error> {
        self.look(|catalogue| catalogue.of_kind(kind)).await
    }

    async fn look(
        &self,
        find: impl Fn(&Catalogue) -> Option<Served>,
    ) -> Result<Option<Served>, Error> {
        if let Some(found) = find(&*self.catalogue().await?) {
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
