use super::At;

/// What a writer is told, in order.
#[derive(Debug, Default)]
pub(super) struct Told {
    texts: Vec<String>,
}

impl Told {
    pub(super) fn into_texts(self) -> Vec<String> {
        self.texts
    }

    /// Something about a place, which is named before it.
    pub(super) fn at(&mut self, at: At<'_>, text: &str) {
        self.texts.push(format!("{at}: {text}"));
    }

    /// Something that names its place itself.
    pub(super) fn say(&mut self, text: &str) {
        self.texts.push(text.to_owned());
    }
}
