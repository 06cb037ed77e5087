use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use kubewright_wire::review::SubjectAccessReviewStatus;
use parking_lot::Mutex;
use tokio::time::Instant;

/// How many are kept (k8s.io/apiserver/plugin/pkg/authorizer/webhook).
const MOST: usize = 8192;

/// What the authorization webhook said, for as long as it counts.
#[derive(Default)]
pub(crate) struct Answers {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    answers: BTreeMap<String, Answer>,
    uses: u64,
}

struct Answer {
    status: SubjectAccessReviewStatus,
    until: Instant,
    last_use: u64,
}

impl Answers {
    /// The answer to that question, while it counts.
    pub(crate) fn get(&self, question: &str) -> Option<SubjectAccessReviewStatus> {
        let mut kept = self.kept.lock();
        kept.uses += 1;
        let uses = kept.uses;
        let found = kept.answers.get_mut(question)?;
        if found.until <= Instant::now() {
            kept.answers.remove(question);
            return None;
        }
        found.last_use = uses;
        Some(found.status.clone())
    }

    /// Keeps an answer for that long; when there are too many, the one goes that was not needed
    /// for the longest time.
    pub(crate) fn keep(&self, question: String, status: SubjectAccessReviewStatus, time: Duration) {
        let mut kept = self.kept.lock();
        kept.uses += 1;
        let last_use = kept.uses;
        let until = Instant::now() + time;
        kept.answers.insert(
            question,
            Answer {
                status,
                until,
                last_use,
            },
        );
        if kept.answers.len() <= MOST {
            return;
        }
        let oldest = kept.answers.iter().min_by_key(|(_, one)| one.last_use);
        if let Some(oldest) = oldest.map(|(question, _)| question.clone()) {
            kept.answers.remove(&oldest);
        }
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.kept.lock().answers.len();
        f.debug_struct("Answers").field("count", &count).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kubewright_wire::review::SubjectAccessReviewStatus;
    use tokio::time::advance;

    use super::{Answers, MOST};

    const LONG: Duration = Duration::from_secs(300);

    fn said(reason: &str) -> SubjectAccessReviewStatus {
        SubjectAccessReviewStatus {
            reason: reason.to_owned(),
            ..SubjectAccessReviewStatus::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_counts_until_its_time_is_over() {
        let answers = Answers::default();
        answers.keep("q".to_owned(), said("yes"), LONG);
        advance(LONG - Duration::from_millis(1)).await;
        assert_eq!(answers.get("q"), Some(said("yes")));
        assert_eq!(answers.get("other"), None);
        advance(Duration::from_millis(1)).await;
        assert_eq!(answers.get("q"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_needs_makes_room() {
        let answers = Answers::default();
        for place in 0..MOST {
            answers.keep(place.to_string(), said("a"), LONG);
        }
        assert!(answers.get("0").is_some());
        answers.keep("new".to_owned(), said("b"), LONG);
        assert!(answers.get("new").is_some() && answers.get("0").is_some());
        assert!(
            answers.get("1").is_none(),
            "not needed for the longest time"
        );
    }
}
