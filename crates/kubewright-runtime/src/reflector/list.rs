//! Lists a collection page by page.

use std::time::Duration;

use kubewright_wire::record::Record;
use kubewright_wire::scan::ListEnd;
use tokio::time::Instant;

use super::accept::{ReadVerb, accept};
use super::collection::Collection;
use super::item_error::ItemError;
use super::scanner::ItemScanner;
use super::sink::Sink;
use super::skipped::SkippedObjects;
use crate::Error;
use crate::client::{ErrorReason, Query, get_stream};

/// The timeout of the response headers, and of each chunk of the body.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// How fresh a list must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// Any state, which the server can read from its cache: the first list.
    Any,
    /// The state in storage, because the server's history did not suffice.
    Latest,
}

/// A complete collection.
#[derive(Default)]
pub(super) struct Listed {
    pub(super) records: Vec<Record>,
    pub(super) resource_version: String,
    pub(super) skipped: SkippedObjects,
}

/// Lists all pages. If a continuation token has expired, the list begins again without pages.
pub(super) async fn list(
    collection: &mut Collection,
    freshness: Freshness,
    sink: &impl Sink,
) -> Result<Listed, Error> {
    let page_size = Some(collection.options.page_size);
    match list_pages(collection, freshness, page_size, sink).await {
        Err(failed) if failed.is_continued && is_expired(&failed.error) => {
            let whole = list_pages(collection, Freshness::Latest, None, sink).await;
            whole.map_err(|failed| failed.error)
        }
        listed => listed.map_err(|failed| failed.error),
    }
}

async fn list_pages(
    collection: &mut Collection,
    freshness: Freshness,
    page_size: Option<u32>,
    sink: &impl Sink,
) -> Result<Listed, PageError> {
    let mut listed = Listed::default();
    let mut token: Option<String> = None;
    loop {
        let mut query = Query::new();
        if let Some(limit) = page_size {
            query = query.with("limit", limit);
        }
        query = match (&token, freshness) {
            // A continuation token contains the revision.
            (Some(token), _) => query.with("continue", token),
            (None, Freshness::Any) => query.with("resourceVersion", 0),
            (None, Freshness::Latest) => query,
        };
        let page = list_page(collection, query, &mut listed, sink).await;
        let end = page.map_err(|error| PageError {
            error,
            is_continued: token.is_some(),
        })?;
        if end.continue_token.is_none() {
            listed.resource_version = end.resource_version;
            return Ok(listed);
        }
        token = end.continue_token;
    }
}

async fn list_page(
    collection: &mut Collection,
    query: Query,
    listed: &mut Listed,
    sink: &impl Sink,
) -> Result<ListEnd, Error> {
    let Collection {
        client,
        spec,
        options,
        reader,
    } = collection;
    let what = format!("list {}", spec.what());
    let accept = accept(spec, ReadVerb::List, &options.protobuf);
    let mut response = get_stream(client, &what, &spec.path(query), accept, READ_TIMEOUT).await?;
    let format = reader.format(&response);
    let mut scanner = ItemScanner::new(format, options.largest_object);
    while let Some(chunk) = response.chunk(Instant::now() + READ_TIMEOUT).await? {
        let scanned = scanner.push(&chunk, |item| {
            match reader.record(format, item) {
                // An unchanged object is held in memory once while the list is read.
                Ok(record) => listed.records.push(sink.held(&record).unwrap_or(record)),
                Err(error) => listed.skipped.add(error),
            }
            Ok(())
        });
        scanned.map_err(|error| error.about(&what))?;
    }
    scanner
        .finish()
        .map_err(|source| ItemError::Scan(source).about(&what))
}

struct PageError {
    error: Error,
    /// Whether the page was not the first.
    is_continued: bool,
}

pub(super) fn is_expired(error: &Error) -> bool {
    error.status().map(ErrorReason::of) == Some(ErrorReason::Expired)
}
