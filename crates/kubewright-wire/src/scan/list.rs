//! Splitting of a JSON list into items.

use memchr::memchr2;
use serde::Deserialize;

use super::error::ScanError;
use super::item::Item;

/// Splits the body of a list, `{"metadata":{..},"items":[..]}`, into its items.
#[derive(Debug)]
pub struct ListScanner {
    limit: usize,
    state: State,
    /// The current member of the list.
    member: Member,
    /// The depth within the current value.
    depth: usize,
    text: Text,
    /// The part of the current value, key or item from earlier chunks.
    partial: Vec<u8>,
    /// Whether the rest of the item is skipped, because its beginning was returned.
    cut: bool,
    metadata: Vec<u8>,
    items: usize,
    at: usize,
}

/// The metadata of a list, which may be after its items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListEnd {
    /// The revision of the list.
    pub resource_version: String,
    /// The token for the next page; none for the last page.
    pub continue_token: Option<String>,
    /// The number of items.
    pub items: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Start,
    BeforeKey,
    Key,
    Colon,
    BeforeValue,
    Value,
    BeforeItem,
    Item,
    AfterItem,
    AfterValue,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Member {
    Items,
    Metadata,
    Other,
}

/// Whether the scanner is inside a string.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Text {
    Outside,
    Inside,
    Escaped,
}

impl ListScanner {
    /// A scanner that reads at most `limit` bytes of an item.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            state: State::Start,
            member: Member::Other,
            depth: 0,
            text: Text::Outside,
            partial: Vec::new(),
            cut: false,
            metadata: Vec::new(),
            items: 0,
            at: 0,
        }
    }

    /// Takes the next chunk and calls `each` for every item that is complete or too long.
    pub fn push<E: From<ScanError>>(
        &mut self,
        chunk: &[u8],
        mut each: impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = chunk;
        while let Some(&byte) = rest.first() {
            if matches!(self.state, State::Key | State::Value | State::Item) {
                let (taken, is_complete) = self.extent(rest);
                let (part, after) = rest.split_at(taken);
                rest = after;
                self.at += taken;
                if self.partial.len() + part.len() > self.limit {
                    self.cut_off(part, &mut each)?;
                }
                if !is_complete {
                    self.keep(part);
                } else if self.partial.is_empty() {
                    self.finish_value(part, &mut each)?;
                } else {
                    self.keep(part);
                    let value = std::mem::take(&mut self.partial);
                    self.finish_value(&value, &mut each)?;
                }
                continue;
            }
            if byte.is_ascii_whitespace() || self.step(byte)? == Consumed::Yes {
                rest = rest.get(1..).unwrap_or_default();
                self.at += 1;
            }
        }
        Ok(())
    }

    /// Ends the list; fails if it is not complete.
    pub fn finish(self) -> Result<ListEnd, ScanError> {
        if self.state != State::End {
            return Err(ScanError::Cut { items: self.items });
        }
        let mut end = ListEnd {
            items: self.items,
            ..ListEnd::default()
        };
        if !self.metadata.is_empty() {
            let metadata: ListMetadata =
                serde_json::from_slice(&self.metadata).map_err(|source| ScanError::Parse {
                    what: "the metadata of a list",
                    source,
                })?;
            end.resource_version = metadata.resource_version;
            end.continue_token = Some(metadata.r#continue).filter(|token| !token.is_empty());
        }
        Ok(end)
    }

    /// Returns the beginning of an item that is too long. Other values may not be longer than the
    /// limit.
    fn cut_off<E: From<ScanError>>(
        &mut self,
        part: &[u8],
        each: &mut impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.cut {
            return Ok(());
        }
        if self.state != State::Item {
            return Err(ScanError::TooLarge { limit: self.limit }.into());
        }
        self.cut = true;
        let mut beginning = std::mem::take(&mut self.partial);
        let capacity = self.limit - beginning.len();
        beginning.extend_from_slice(part.get(..capacity).unwrap_or(part));
        each(Item::Cut(&beginning))
    }

    /// Stores a part of the current value, unless the value is ignored.
    fn keep(&mut self, part: &[u8]) {
        if self.cut {
            return;
        }
        if self.state != State::Value || self.member != Member::Other {
            self.partial.extend_from_slice(part);
        }
    }

    /// Reads one byte of the list's own structure.
    fn step(&mut self, byte: u8) -> Result<Consumed, ScanError> {
        let (next, consumed) = match (self.state, byte) {
            (State::Start, b'{') | (State::AfterValue, b',') => (State::BeforeKey, Consumed::Yes),
            (State::BeforeKey, b'"') => (State::Key, Consumed::No),
            (State::BeforeKey | State::AfterValue, b'}') => (State::End, Consumed::Yes),
            (State::Colon, b':') => (State::BeforeValue, Consumed::Yes),
            (State::BeforeValue, b'[') if self.member == Member::Items => {
                (State::BeforeItem, Consumed::Yes)
            }
            (State::BeforeValue, _) => (State::Value, Consumed::No),
            (State::BeforeItem | State::AfterItem, b']') => (State::AfterValue, Consumed::Yes),
            (State::BeforeItem, b'{') => (State::Item, Consumed::No),
            (State::AfterItem, b',') => (State::BeforeItem, Consumed::Yes),
            (state, _) => {
                return Err(ScanError::NotAList {
                    at: self.at,
                    expected: state.expected(),
                });
            }
        };
        self.state = next;
        self.depth = 0;
        self.text = Text::Outside;
        Ok(consumed)
    }

    /// The number of bytes of `rest` that belong to the current value, and whether it is complete.
    fn extent(&mut self, rest: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while let Some(&byte) = rest.get(at) {
            match (self.text, byte) {
                (Text::Escaped, _) | (Text::Outside, b'"') => self.text = Text::Inside,
                (Text::Inside, _) => {
                    let found = memchr2(b'"', b'\\', rest.get(at..).unwrap_or_default());
                    let Some(skipped) = found else {
                        return (rest.len(), false);
                    };
                    at += skipped;
                    self.text = match rest.get(at) {
                        Some(b'"') => Text::Outside,
                        _ => Text::Escaped,
                    };
                }
                (Text::Outside, b'{' | b'[') => self.depth += 1,
                // A number or literal at depth 0 ends before the next token of the list.
                (Text::Outside, b'}' | b']' | b',') if self.depth == 0 => return (at, true),
                (Text::Outside, b'}' | b']') => self.depth -= 1,
                (Text::Outside, _) => {}
            }
            at += 1;
            let closes = rest.get(at - 1).is_some_and(|byte| b"}]\"".contains(byte));
            if closes && self.depth == 0 && self.text == Text::Outside {
                return (at, true);
            }
        }
        (rest.len(), false)
    }

    fn finish_value<E: From<ScanError>>(
        &mut self,
        value: &[u8],
        each: &mut impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.text = Text::Outside;
        self.state = match self.state {
            State::Item => {
                self.items += 1;
                if !std::mem::take(&mut self.cut) {
                    each(Item::Whole(value))?;
                }
                State::AfterItem
            }
            State::Key => {
                self.member = match value {
                    br#""items""# => Member::Items,
                    br#""metadata""# => Member::Metadata,
                    _ => Member::Other,
                };
                State::Colon
            }
            _ => {
                if self.member == Member::Metadata {
                    self.metadata = value.to_vec();
                }
                State::AfterValue
            }
        };
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Consumed {
    Yes,
    No,
}

impl State {
    fn expected(self) -> &'static str {
        match self {
            Self::Start => "an object",
            Self::BeforeKey => "the name of a member",
            Self::Colon => "a colon",
            Self::BeforeItem => "an item",
            Self::AfterItem => "a comma or the end of the items",
            Self::AfterValue => "a comma or the end of the list",
            Self::Key | Self::BeforeValue | Self::Value | Self::Item => "a value",
            Self::End => "nothing after the list",
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMetadata {
    #[serde(default)]
    resource_version: String,
    #[serde(default)]
    r#continue: String,
}

#[cfg(test)]
mod tests {
    use super::{Item, ListEnd, ListScanner, ScanError};

    fn scan(chunks: &[&[u8]], limit: usize) -> Result<(Vec<String>, ListEnd), ScanError> {
        let mut scanner = ListScanner::new(limit);
        let mut items = Vec::new();
        for chunk in chunks {
            scanner.push(chunk, |item| {
                let (sign, bytes) = match item {
                    Item::Whole(bytes) => ("", bytes),
                    Item::Cut(bytes) => ("<", bytes),
                };
                let text = String::from_utf8(bytes.to_vec()).unwrap();
                items.push(format!("{sign}{text}"));
                Ok::<_, ScanError>(())
            })?;
        }
        Ok((items, scanner.finish()?))
    }

    const METADATA_FIRST: &str = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"12","continue":"ab\"c"},"items":[{"a":"}],\"{"},{"b":[{},[]]}]}"#;
    const METADATA_LAST: &str = " {\n \"items\": [ {\"a\":\"}],\\\"{\"} , {\"b\":[{},[]]} ] ,\"n\":1,\"t\":true, \"metadata\":{\"resourceVersion\":\"12\",\"continue\":\"ab\\\"c\"} }\n";

    #[test]
    fn items_and_end_do_not_depend_on_the_chunks() {
        for body in [METADATA_FIRST, METADATA_LAST] {
            let bytes = body.as_bytes();
            for cut in 0..=bytes.len() {
                for second in cut..=bytes.len() {
                    let (head, rest) = bytes.split_at(cut);
                    let (middle, tail) = rest.split_at(second - cut);
                    let (items, end) = scan(&[head, middle, tail], 1000).unwrap();
                    assert_eq!(items, [r#"{"a":"}],\"{"}"#, r#"{"b":[{},[]]}"#]);
                    assert_eq!(end.resource_version, "12");
                    assert_eq!(end.continue_token.as_deref(), Some("ab\"c"));
                    assert_eq!(end.items, 2);
                }
            }
        }
    }

    #[test]
    fn list_without_items_has_an_empty_array_null_or_no_field() {
        for body in [
            r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#,
            r#"{"metadata":{"resourceVersion":"7","continue":""},"items":null}"#,
            r#"{"items":null,"metadata":{"resourceVersion":"7"}}"#,
            r#"{"metadata":{"resourceVersion":"7"}}"#,
        ] {
            let (items, end) = scan(&[body.as_bytes()], 100).unwrap();
            assert!(items.is_empty());
            assert_eq!(
                (end.resource_version.as_str(), end.continue_token),
                ("7", None)
            );
        }
    }

    #[test]
    fn truncated_list_and_other_bodies_are_errors() {
        for cut in 1..METADATA_FIRST.len() {
            let head = METADATA_FIRST.as_bytes().split_at(cut).0;
            assert!(
                matches!(scan(&[head], 1000), Err(ScanError::Cut { .. })),
                "{cut}"
            );
        }
        for bad in [
            "[]",
            "{]",
            r#"{"items":[7]}"#,
            r#"{"items":[{}{}]}"#,
            "{}x",
            r#"{"a"}"#,
        ] {
            let error = scan(&[bad.as_bytes()], 1000).unwrap_err();
            assert!(
                matches!(error, ScanError::NotAList { .. }),
                "{bad}: {error}"
            );
        }
    }

    #[test]
    fn item_over_the_limit_is_truncated_and_the_next_item_is_complete() {
        let body = br#"{"items":[{"a":1},{"a":"12345678901234567890"},{"b":[{}]},{"c":"\"}{"},{}],"metadata":{}}"#;
        for cut in 0..=body.len() {
            for second in cut..=body.len() {
                let (head, rest) = body.split_at(cut);
                let (middle, tail) = rest.split_at(second - cut);
                let (items, end) = scan(&[head, middle, tail], 12).unwrap();
                let expected = [
                    r#"{"a":1}"#,
                    r#"<{"a":"123456"#,
                    r#"{"b":[{}]}"#,
                    r#"{"c":"\"}{"}"#,
                    "{}",
                ];
                assert_eq!(items, expected, "{cut} {second}");
                assert_eq!(end.items, 5);
            }
        }
    }

    #[test]
    fn item_over_the_limit_is_returned_before_its_end() {
        let mut scanner = ListScanner::new(20);
        let mut items = 0;
        let body = br#"{"items":[{"a":"12345678901234567890"#;
        let pushed = scanner.push(body, |_| {
            items += 1;
            Ok::<_, ScanError>(())
        });
        assert!(pushed.is_ok());
        assert_eq!(items, 1);
    }

    #[test]
    fn metadata_over_the_limit_is_an_error() {
        let body = br#"{"metadata":{"continue":"12345678901234567890"}}"#;
        let error = scan(&[body], 20).unwrap_err();
        assert!(matches!(error, ScanError::TooLarge { limit: 20 }));
    }
}
