use std::time::Duration;

use kubewright_wire::record::Record;
use kubewright_wire::scan::ListEnd;
use tokio::time::Instant;

use super::form::ItemScanner;
use super::intake::{Intake, ItemError, Skipped};
use super::spec::Asked;
use super::{InformerSpec, ReflectorOptions, Sink};
use crate::Error;
use crate::client::{ErrorReason, Query, get_stream};

/// A server that sends nothing for so long has died.
const PATIENCE: Duration = Duration::from_secs(60);

/// How fresh a list must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// Whatever the server has at hand: the first list.
    Any,
    /// As storage has it, because the server's history was of no use.
    Latest,
}

/// A whole collection.
pub(super) struct Listed {
    pub(super) records: Vec<Record>,
    pub(super) resource_version: String,
    pub(super) skipped: Skipped,
}

/// One list, page by page.
pub(super) struct List<'a> {
    pub(super) client: &'a kube::Client,
    pub(super) spec: &'a InformerSpec,
    pub(super) options: &'a ReflectorOptions,
    pub(super) intake: &'a mut Intake,
}

impl List<'_> {
    /// Reads all pages. A continuation that has expired begins again, in one piece.
    pub(super) async fn read(
        mut self,
        freshness: Freshness,
        sink: &impl Sink,
    ) -> Result<Listed, Error> {
        match self
            .pages(freshness, Some(self.options.page_size), sink)
            .await
        {
            Err(PageError { error, continued }) if continued && is_expired(&error) => {
                let whole = self.pages(Freshness::Latest, None, sink).await;
                whole.map_err(|failed| failed.error)
            }
            read => read.map_err(|failed| failed.error),
        }
    }

    async fn pages(
        &mut self,
        freshness: Freshness,
        limit: Option<u32>,
        sink: &impl Sink,
    ) -> Result<Listed, PageError> {
        let mut records = Vec::new();
        let mut skipped = Skipped::default();
        let mut token: Option<String> = None;
        loop {
            let mut query = Query::new();
            if let Some(limit) = limit {
                query = query.with("limit", limit);
            }
            query = match (&token, freshness) {
                // A continuation carries its revision in itself.
                (Some(token), _) => query.with("continue", token),
                (None, Freshness::Any) => query.with("resourceVersion", 0),
                (None, Freshness::Latest) => query,
            };
            let page = self.page(query, &mut records, &mut skipped, sink).await;
            let end = page.map_err(|error| PageError {
                error,
                continued: token.is_some(),
            })?;
            match end.continue_token {
                Some(next) => token = Some(next),
                None => {
                    return Ok(Listed {
                        records,
                        resource_version: end.resource_version,
                        skipped,
                    });
                }
            }
        }
    }

    async fn page(
        &mut self,
        query: Query,
        records: &mut Vec<Record>,
        skipped: &mut Skipped,
        sink: &impl Sink,
    ) -> Result<ListEnd, Error> {
        let what = format!("list {}", self.spec.what());
        let path = self.spec.path(query);
        let accept = self.spec.accept(Asked::List, &self.options.protobuf);
        let mut response = get_stream(self.client, &what, &path, accept, PATIENCE).await?;
        let form = self.intake.form(&response);
        let mut scanner = ItemScanner::new(form, self.options.largest_object);
        while let Some(chunk) = response.chunk(Instant::now() + PATIENCE).await? {
            let taken = scanner.push(&chunk, |item| {
                match self.intake.record(form, item) {
                    // What has not changed is kept once, not twice, while the list is read.
                    Ok(record) => records.push(sink.held(&record).unwrap_or(record)),
                    Err(error) => skipped.note(error),
                }
                Ok(())
            });
            taken.map_err(|error| error.about(&what))?;
        }
        scanner
            .finish()
            .map_err(|source| ItemError::Scan(source).about(&what))
    }
}

struct PageError {
    error: Error,
    /// Whether it was not the first page.
    continued: bool,
}

pub(super) fn is_expired(error: &Error) -> bool {
    error.status().map(ErrorReason::of) == Some(ErrorReason::Expired)
}
