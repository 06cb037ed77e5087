//! A cache of the responses of the authorization webhook.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use kubewright_wire::review::SubjectAccessReviewStatus;
use parking_lot::Mutex;
use tokio::time::Instant;

/// The size of the cache (k8s.io/apiserver/plugin/pkg/authorizer/webhook).
const MAX_ENTRIES: usize = 8192;

/// Responses by the review that they are for, until they expire.
#[derive(Default)]
pub(super) struct WebhookCache {
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    by_review: BTreeMap<String, Entry>,
    uses: u64,
}

struct Entry {
    status: SubjectAccessReviewStatus,
    expires: Instant,
    last_use: u64,
}

impl WebhookCache {
    /// The response for a review, unless it has expired.
    pub(super) fn get(&self, review: &str) -> Option<SubjectAccessReviewStatus> {
        let mut entries = self.entries.lock();
        entries.uses += 1;
        let uses = entries.uses;
        let entry = entries.by_review.get_mut(review)?;
        if entry.expires <= Instant::now() {
            entries.by_review.remove(review);
            return None;
        }
        entry.last_use = uses;
        Some(entry.status.clone())
    }

    /// Stores a response. A full cache drops the least recently used response.
    pub(super) fn insert(&self, review: String, status: SubjectAccessReviewStatus, ttl: Duration) {
        let mut entries = self.entries.lock();
        entries.uses += 1;
        let entry = Entry {
            status,
            expires: Instant::now() + ttl,
            last_use: entries.uses,
        };
        entries.by_review.insert(review, entry);
        if entries.by_review.len() <= MAX_ENTRIES {
            return;
        }
        let oldest = entries
            .by_review
            .iter()
            .min_by_key(|(_, entry)| entry.last_use)
            .map(|(review, _)| review.clone());
        if let Some(oldest) = oldest {
            entries.by_review.remove(&oldest);
        }
    }
}

impl fmt::Debug for WebhookCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.entries.lock().by_review.len();
        f.debug_struct("WebhookCache")
            .field("count", &count)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kubewright_wire::review::SubjectAccessReviewStatus;
    use tokio::time::advance;

    use super::{MAX_ENTRIES, WebhookCache};

    const LONG: Duration = Duration::from_secs(300);

    fn status(reason: &str) -> SubjectAccessReviewStatus {
        SubjectAccessReviewStatus {
            reason: reason.to_owned(),
            ..SubjectAccessReviewStatus::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn response_is_cached_until_it_expires() {
        let cache = WebhookCache::default();
        cache.insert("q".to_owned(), status("yes"), LONG);
        advance(LONG - Duration::from_millis(1)).await;
        assert_eq!(cache.get("q"), Some(status("yes")));
        assert_eq!(cache.get("other"), None);
        advance(Duration::from_millis(1)).await;
        assert_eq!(cache.get("q"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn least_recently_used_response_is_evicted() {
        let cache = WebhookCache::default();
        for index in 0..MAX_ENTRIES {
            cache.insert(index.to_string(), status("a"), LONG);
        }
        assert!(cache.get("0").is_some());
        cache.insert("new".to_owned(), status("b"), LONG);
        assert!(cache.get("new").is_some() && cache.get("0").is_some());
        assert!(cache.get("1").is_none(), "least recently used");
    }
}
