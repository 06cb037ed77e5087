//! The nodes of a record, read in place.

use super::dictionary;

/// The type of a node, in the upper three bits of its tag.
pub(super) mod tag {
    pub(crate) const SIMPLE: u8 = 0;
    pub(crate) const UNSIGNED: u8 = 1;
    pub(crate) const TEXT: u8 = 2;
    pub(crate) const WORD: u8 = 3;
    pub(crate) const OBJECT: u8 = 4;
    pub(crate) const ARRAY: u8 = 5;

    /// In the lower five bits: the value follows as a varint.
    pub(crate) const FOLLOWS: u8 = 31;

    pub(crate) const NULL: u8 = 0;
    pub(crate) const FALSE: u8 = 1;
    pub(crate) const TRUE: u8 = 2;
    pub(crate) const FLOAT: u8 = 3;
    pub(crate) const NEGATIVE: u8 = 4;
}

/// One value of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node<'a> {
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number from zero up.
    Unsigned(u64),
    /// A number below zero.
    Negative(i64),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// A text.
    Text(&'a str),
    /// An object.
    Object(Object<'a>),
    /// An array.
    Array(Array<'a>),
}

impl<'a> Node<'a> {
    /// The text, if it is one.
    pub fn as_text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The object, if it is one.
    pub fn as_object(self) -> Option<Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The array, if it is one.
    pub fn as_array(self) -> Option<Array<'a>> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The boolean, if it is one.
    pub fn as_bool(self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number, if it is an integer that fits.
    pub fn as_integer(self) -> Option<i64> {
        match self {
            Self::Unsigned(value) => value.try_into().ok(),
            Self::Negative(value) => Some(value),
            _ => None,
        }
    }
}

/// The fields of an object, in the order of its JSON.
#[derive(Clone, Copy, Debug, Default)]
pub struct Object<'a> {
    fields: Cursor<'a>,
    count: u8,
}

impl<'a> Object<'a> {
    /// The value of the field with this name.
    pub fn field(self, name: &str) -> Option<Node<'a>> {
        self.into_iter()
            .find_map(|(key, value)| (key == name).then_some(value))
    }

    /// The least number of fields; exact below 31.
    pub fn count_hint(self) -> usize {
        self.count.into()
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = (&'a str, Node<'a>);
    type IntoIter = Fields<'a>;

    fn into_iter(self) -> Fields<'a> {
        Fields(self.fields)
    }
}

/// Equal objects have equal fields in equal order, whatever their bytes.
impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.into_iter().eq(*other)
    }
}

/// The fields of an [`Object`].
#[derive(Clone, Debug)]
pub struct Fields<'a>(Cursor<'a>);

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a str, Node<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_at_end() {
            return None;
        }
        Some((self.0.key(), self.0.node()))
    }
}

/// The elements of an array.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    elements: Cursor<'a>,
    count: u8,
}

impl Array<'_> {
    /// The least number of elements; exact below 31.
    pub fn count_hint(self) -> usize {
        self.count.into()
    }
}

impl<'a> IntoIterator for Array<'a> {
    type Item = Node<'a>;
    type IntoIter = Elements<'a>;

    fn into_iter(self) -> Elements<'a> {
        Elements(self.elements)
    }
}

impl PartialEq for Array<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.into_iter().eq(*other)
    }
}

/// The elements of an [`Array`].
#[derive(Clone, Debug)]
pub struct Elements<'a>(Cursor<'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_at_end()).then(|| self.0.node())
    }
}

/// A position in a record's bytes.
///
/// Only the encoder creates records, so a short read cannot happen; it would give empty values
/// instead of a panic.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else {
            return 0;
        };
        self.rest = rest;
        *first
    }

    fn varint(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }

    fn length(&mut self) -> usize {
        usize::try_from(self.varint()).unwrap_or(usize::MAX)
    }

    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .unwrap_or((self.rest, &[]));
        self.rest = rest;
        taken
    }

    fn text(&mut self, length: usize) -> &'a str {
        str::from_utf8(self.take(length)).unwrap_or_default()
    }

    /// The name of a field: an id of the dictionary plus one, or zero followed by the name.
    fn key(&mut self) -> &'a str {
        match self.length() {
            0 => {
                let length = self.length();
                self.text(length)
            }
            stored => dictionary::word(stored - 1).unwrap_or_default(),
        }
    }

    /// The node at the cursor, which moves past it.
    pub(super) fn node(&mut self) -> Node<'a> {
        let byte = self.byte();
        let (kind, low) = (byte >> 5, byte & 0x1f);
        match kind {
            tag::UNSIGNED => Node::Unsigned(self.value(low)),
            tag::TEXT => {
                let length = usize::try_from(self.value(low)).unwrap_or(usize::MAX);
                Node::Text(self.text(length))
            }
            tag::WORD => {
                let id = usize::try_from(self.value(low)).unwrap_or(usize::MAX);
                Node::Text(dictionary::word(id).unwrap_or_default())
            }
            tag::OBJECT => {
                let length = self.length();
                Node::Object(Object {
                    fields: Self::new(self.take(length)),
                    count: low,
                })
            }
            tag::ARRAY => {
                let length = self.length();
                Node::Array(Array {
                    elements: Self::new(self.take(length)),
                    count: low,
                })
            }
            _ => self.simple(low),
        }
    }

    fn value(&mut self, low: u8) -> u64 {
        match low {
            tag::FOLLOWS => self.varint(),
            small => small.into(),
        }
    }

    fn simple(&mut self, low: u8) -> Node<'a> {
        match low {
            tag::FALSE => Node::Bool(false),
            tag::TRUE => Node::Bool(true),
            tag::FLOAT => Node::Float(
                self.take(8)
                    .try_into()
                    .map(f64::from_le_bytes)
                    .unwrap_or_default(),
            ),
            // Stored as the complement, which is not negative and short for small numbers.
            tag::NEGATIVE => Node::Negative(!i64::try_from(self.varint()).unwrap_or_default()),
            _ => Node::Null,
        }
    }

    /// The content of the container at the cursor.
    pub(super) fn content(mut self) -> &'a [u8] {
        self.byte();
        let length = self.length();
        self.take(length)
    }
}
