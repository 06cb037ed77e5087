//! Events and the objects that they are about.

use kubewright_core::{Kind, ObjectKey};
use serde::{Deserialize, Serialize};

/// The type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum EventKind {
    /// An expected event.
    Normal,
    /// An event that may need attention.
    Warning,
}

/// An event about an object, for its users.
///
/// ```
/// use kubewright_runtime::events::Event;
///
/// let event = Event::warning("FailedCreate", "no room for Pod web-0").action("Create");
/// assert_eq!(event.reason(), "FailedCreate");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub(super) kind: EventKind,
    pub(super) reason: String,
    pub(super) action: String,
    pub(super) note: String,
    pub(super) related: Option<Regarding>,
}

/// The limits of events.k8s.io (pkg/apis/core/validation/events.go).
const MAX_NOTE_LEN: usize = 1024;
const MAX_WORD_LEN: usize = 128;

impl Event {
    /// A normal event: `reason` is one CamelCase word, `note` a sentence.
    pub fn normal(reason: impl Into<String>, note: impl Into<String>) -> Self {
        Self::new(EventKind::Normal, reason.into(), note.into())
    }

    /// A warning: `reason` is one CamelCase word, `note` a sentence.
    pub fn warning(reason: impl Into<String>, note: impl Into<String>) -> Self {
        Self::new(EventKind::Warning, reason.into(), note.into())
    }

    /// Sets the action that the controller took or tried, by default `Reconcile`.
    #[must_use]
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.action = truncated(action.into(), MAX_WORD_LEN);
        self
    }

    /// Sets another object that the event is about. A series has the same object in all its events.
    #[must_use]
    pub fn related(mut self, object: Regarding) -> Self {
        self.related = Some(object);
        self
    }

    /// The reason of the event.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    fn new(kind: EventKind, reason: String, note: String) -> Self {
        Self {
            kind,
            reason: truncated(reason, MAX_WORD_LEN),
            action: "Reconcile".to_owned(),
            note: truncated(note, MAX_NOTE_LEN),
            related: None,
        }
    }
}

/// The object that an event is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Regarding {
    api_version: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    uid: String,
}

impl Regarding {
    /// The object of a kind that has this key and uid.
    pub fn new(kind: &Kind, key: &ObjectKey, uid: &str) -> Self {
        Self {
            api_version: kind.group_version.to_string(),
            kind: kind.kind.clone(),
            namespace: key.namespace().map(str::to_owned),
            name: key.name().to_owned(),
            uid: uid.to_owned(),
        }
    }
}

/// Truncates the text to `max_len` bytes, between characters.
fn truncated(mut text: String, max_len: usize) -> String {
    if text.len() > max_len {
        text.truncate(text.floor_char_boundary(max_len));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Event;

    #[test]
    fn text_beyond_the_limits_of_the_api_server_is_truncated_between_characters() {
        let event = Event::normal("r".repeat(200), "\u{e4}".repeat(600));
        assert_eq!(event.reason.len(), 128);
        assert_eq!(event.note.len(), 1024);
        assert_eq!(
            Event::normal("R", "\u{e4}".repeat(513))
                .note
                .chars()
                .count(),
            512
        );
    }
}
