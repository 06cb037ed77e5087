//! Splitting of a protobuf list into items.

use super::error::ScanError;
use super::item::Item;
use super::list::ListEnd;
use super::sized::{Progress, SizedItem};
use crate::protobuf::{Fields, ProtobufError, Wire};

/// Splits the body of a list in protobuf into its items: a prefix of four bytes, then a message whose
/// second field is the list. The first field of the list is its metadata, its second fields are the
/// items.
#[derive(Debug)]
pub struct MessageScanner {
    state: State,
    /// The received bytes of a field's head.
    head: Vec<u8>,
    /// The number of unread bytes of the list; none before and after it.
    left: Option<usize>,
    /// Whether the list has been read.
    is_read: bool,
    item: SizedItem,
    metadata: Vec<u8>,
    limit: usize,
    items: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Magic,
    Head,
    Skipped(usize),
    Metadata(usize),
    Item,
}

const MAGIC: &[u8] = b"k8s\0";

impl MessageScanner {
    /// A scanner that reads at most `limit` bytes of an item.
    pub fn new(limit: usize) -> Self {
        Self {
            state: State::Magic,
            head: Vec::new(),
            left: None,
            is_read: false,
            item: SizedItem::new(limit),
            metadata: Vec::new(),
            limit,
            items: 0,
        }
    }

    /// Takes the next chunk and calls `each` for every item that is complete or too long.
    pub fn push<E: From<ScanError>>(
        &mut self,
        mut chunk: &[u8],
        mut each: impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some((&byte, rest)) = chunk.split_first() {
            match self.state {
                State::Magic => {
                    chunk = rest;
                    self.magic(byte)?;
                }
                State::Head => {
                    chunk = rest;
                    self.head.push(byte);
                    self.begin_field(&mut each)?;
                }
                State::Skipped(length) => {
                    let (part, after) = chunk.split_at(chunk.len().min(length));
                    chunk = after;
                    self.continue_field(length - part.len(), State::Skipped);
                }
                State::Metadata(length) => {
                    let (part, after) = chunk.split_at(chunk.len().min(length));
                    chunk = after;
                    self.metadata.extend_from_slice(part);
                    self.continue_field(length - part.len(), State::Metadata);
                }
                State::Item => {
                    if self.item.take(&mut chunk, &mut each)? == Progress::Done {
                        self.items += 1;
                        self.end_field();
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends the list; fails if it is not complete.
    pub fn finish(self) -> Result<ListEnd, ScanError> {
        if !self.is_read || self.state != State::Head || !self.head.is_empty() {
            return Err(ScanError::Cut { items: self.items });
        }
        let mut end = ListEnd {
            items: self.items,
            ..ListEnd::default()
        };
        let mut fields = Fields::new(&self.metadata);
        while let Some((number, wire)) = fields.next().map_err(of_a_list)? {
            let Wire::Bytes(bytes) = wire else {
                continue;
            };
            let text = || str::from_utf8(bytes).map_err(|_| of_a_list(ProtobufError::Utf8));
            match number {
                2 => text()?.clone_into(&mut end.resource_version),
                3 if !bytes.is_empty() => end.continue_token = Some(text()?.to_owned()),
                _ => {}
            }
        }
        Ok(end)
    }

    fn magic(&mut self, byte: u8) -> Result<(), ScanError> {
        self.head.push(byte);
        if !MAGIC.starts_with(&self.head) {
            return Err(of_a_list(ProtobufError::Magic));
        }
        if self.head.len() == MAGIC.len() {
            self.head.clear();
            self.state = State::Head;
        }
        Ok(())
    }

    /// Begins a field once its number, type and length are complete.
    fn begin_field<E: From<ScanError>>(
        &mut self,
        each: &mut impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some((number, length)) = head(&self.head).map_err(of_a_list)? else {
            return Ok(());
        };
        let taken = std::mem::take(&mut self.head).len();
        let Some(left) = self.left else {
            match number {
                Field::Delimited(2) => self.left = Some(length),
                _ => self.state = State::Skipped(length),
            }
            self.end_empty(length);
            return Ok(());
        };
        let left_after = taken
            .checked_add(length)
            .and_then(|field| left.checked_sub(field));
        self.left = Some(left_after.ok_or_else(|| of_a_list(ProtobufError::Truncated))?);
        match number {
            Field::Delimited(1) if length > self.limit => {
                return Err(ScanError::TooLarge { limit: self.limit }.into());
            }
            Field::Delimited(1) => {
                self.metadata.clear();
                self.state = State::Metadata(length);
            }
            Field::Delimited(2) => {
                self.item.begin(length);
                self.state = State::Item;
                if length == 0 {
                    self.items += 1;
                    each(Item::Whole(&[]))?;
                }
            }
            _ => self.state = State::Skipped(length),
        }
        self.end_empty(length);
        Ok(())
    }

    /// A field without content ends with its head.
    fn end_empty(&mut self, length: usize) {
        if length == 0 {
            self.end_field();
        }
    }

    fn continue_field(&mut self, length: usize, state: fn(usize) -> State) {
        self.state = state(length);
        self.end_empty(length);
    }

    fn end_field(&mut self) {
        self.state = State::Head;
        if self.left == Some(0) {
            self.left = None;
            self.is_read = true;
        }
    }
}

/// A field by its number.
#[derive(Clone, Copy, PartialEq)]
enum Field {
    /// A length-delimited field.
    Delimited(u64),
    Other,
}

/// A field and the number of bytes after its head; `None` when the head is incomplete.
fn head(bytes: &[u8]) -> Result<Option<(Field, usize)>, ProtobufError> {
    let Some((tag, rest)) = varint(bytes)? else {
        return Ok(None);
    };
    let field = match tag & 7 {
        0 => varint(rest)?.map(|_| (Field::Other, 0)),
        1 => Some((Field::Other, 8)),
        2 => match varint(rest)? {
            None => None,
            Some((length, _)) => {
                let bytes = usize::try_from(length).map_err(|_| ProtobufError::Truncated)?;
                Some((Field::Delimited(tag >> 3), bytes))
            }
        },
        5 => Some((Field::Other, 4)),
        other => return Err(ProtobufError::WireType(other)),
    };
    Ok(field)
}

/// A number and the bytes after it; `None` when the number is incomplete.
fn varint(bytes: &[u8]) -> Result<Option<(u64, &[u8])>, ProtobufError> {
    let Some(last) = bytes.iter().position(|byte| byte & 0x80 == 0) else {
        return if bytes.len() < 10 {
            Ok(None)
        } else {
            Err(ProtobufError::Truncated)
        };
    };
    let (number, rest) = bytes.split_at(last + 1);
    Ok(Fields::new(number)
        .next_packed()?
        .map(|value| (value, rest)))
}

fn of_a_list(source: ProtobufError) -> ScanError {
    ScanError::Protobuf {
        what: "a list",
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::{Item, ListEnd, MessageScanner, ScanError};

    /// A field of a message with its number and content.
    fn field(number: u8, inside: &[u8]) -> Vec<u8> {
        let mut length = inside.len();
        let mut head = vec![number << 3 | 2];
        while length >= 128 {
            head.push(u8::try_from(length & 127).unwrap() | 128);
            length >>= 7;
        }
        head.push(u8::try_from(length).unwrap());
        [head, inside.to_vec()].concat()
    }

    fn body(list: &[u8]) -> Vec<u8> {
        let kind = [field(1, b"v1"), field(2, b"PodList")].concat();
        [
            b"k8s\0".to_vec(),
            field(1, &kind),
            field(2, list),
            field(3, b""),
            field(4, b""),
        ]
        .concat()
    }

    fn list(items: &[&[u8]]) -> Vec<u8> {
        let metadata = [
            field(1, b""),
            field(2, b"12"),
            field(3, b"abc"),
            vec![32, 7],
        ]
        .concat();
        let mut list = field(1, &metadata);
        for item in items {
            list.extend(field(2, item));
        }
        list
    }

    fn scan(chunks: &[&[u8]], limit: usize) -> Result<(Vec<String>, ListEnd), ScanError> {
        let mut scanner = MessageScanner::new(limit);
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

    #[test]
    fn items_and_end_do_not_depend_on_the_chunks() {
        let long = "x".repeat(140);
        let body = body(&list(&[b"one", b"", long.as_bytes(), b"three"]));
        for cut in 0..=body.len() {
            for second in cut..=body.len() {
                let (head, rest) = body.split_at(cut);
                let (middle, tail) = rest.split_at(second - cut);
                let (items, end) = scan(&[head, middle, tail], 1000).unwrap();
                assert_eq!(items, ["one", "", &long, "three"]);
                assert_eq!(end.resource_version, "12");
                assert_eq!(end.continue_token.as_deref(), Some("abc"));
                assert_eq!(end.items, 4);
            }
        }
    }

    #[test]
    fn list_without_items_has_an_end() {
        let body = body(&field(1, &field(2, b"7")));
        let (items, end) = scan(&[&body], 100).unwrap();
        assert!(items.is_empty());
        assert_eq!(
            (end.resource_version.as_str(), end.continue_token),
            ("7", None)
        );
    }

    #[test]
    fn truncated_list_and_other_bodies_are_errors() {
        let list = list(&[b"one", b"three"]);
        let body = body(&list);
        let end = body.len() - 4;
        for cut in 0..end {
            let head = body.split_at(cut).0;
            assert!(
                matches!(scan(&[head], 1000), Err(ScanError::Cut { .. })),
                "{cut}"
            );
        }
        for bad in [
            &b"{\"items\":[]}"[..],
            b"k8s\x01",
            b"k8s\0\x0b",
            b"k8s\0\x12\x03\x12\x09",
        ] {
            let error = scan(&[bad], 1000).unwrap_err();
            assert!(
                matches!(error, ScanError::Protobuf { .. }),
                "{bad:?}: {error}"
            );
        }
    }

    #[test]
    fn item_over_the_limit_is_truncated_and_the_next_item_is_complete() {
        let body = body(&list(&[
            b"one",
            b"12345678901234567890",
            b"123456789012",
            b"three",
        ]));
        for cut in 0..=body.len() {
            for second in cut..=body.len() {
                let (head, rest) = body.split_at(cut);
                let (middle, tail) = rest.split_at(second - cut);
                let (items, end) = scan(&[head, middle, tail], 13).unwrap();
                assert_eq!(items, ["one", "<1234567890123", "123456789012", "three"]);
                assert_eq!(end.items, 4);
            }
        }
    }

    #[test]
    fn item_over_the_limit_is_returned_before_its_end() {
        let body = body(&list(&[&[b'x'; 100]]));
        let mut items = 0;
        let beginning = body.split_at(body.len() - 50).0;
        let pushed = MessageScanner::new(20).push(beginning, |_| {
            items += 1;
            Ok::<_, ScanError>(())
        });
        assert!(pushed.is_ok());
        assert_eq!(items, 1);
    }

    #[test]
    fn metadata_over_the_limit_is_an_error() {
        let error = scan(&[&body(&list(&[]))], 5).unwrap_err();
        assert!(matches!(error, ScanError::TooLarge { limit: 5 }));
    }
}
