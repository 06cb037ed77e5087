use kubewright_core::{Kind, ObjectKey};
use serde::{Deserialize, Serialize};

/// Whether an event is a matter of course.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum EventKind {
    /// Something happened as it should.
    Normal,
    /// Something may need a person.
    Warning,
}

/// Something that happened to an object and that its users may want to know.
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

/// The bounds that events.k8s.io sets (pkg/apis/core/validation/events.go).
const LONGEST_NOTE: usize = 1024;
const LONGEST_WORD: usize = 128;

impl Event {
    /// As it should be: `reason` in one CamelCase word, `note` in a sentence.
    pub fn normal(reason: impl Into<String>, note: impl Into<String>) -> Self {
        Self::new(EventKind::Normal, reason.into(), note.into())
    }

    /// Not as it should be.
    pub fn warning(reason: impl Into<String>, note: impl Into<String>) -> Self {
        Self::new(EventKind::Warning, reason.into(), note.into())
    }

    /// What the controller did or tried; `Reconcile` unless said.
    #[must_use]
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.action = cut(action.into(), LONGEST_WORD);
        self
    }

    /// Another object that it is about. Events about different objects make no series.
    #[must_use]
    pub fn related(mut self, object: Regarding) -> Self {
        self.related = Some(object);
        self
    }

    /// The reason.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    fn new(kind: EventKind, reason: String, note: String) -> Self {
        Self {
            kind,
            reason: cut(reason, LONGEST_WORD),
            action: "Reconcile".to_owned(),
            note: cut(note, LONGEST_NOTE),
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

/// The text, at most so many bytes of it.
fn cut(mut text: String, longest: usize) -> String {
    if text.len() > longest {
        text.truncate(text.floor_char_boundary(longest));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Event;

    #[test]
    fn what_is_too_long_for_the_api_server_is_cut_between_letters() {
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
