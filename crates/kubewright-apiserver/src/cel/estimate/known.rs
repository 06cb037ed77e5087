use super::declared::Place;
use super::size::Size;
use crate::cel::types::Type;

/// What is known about the value of a node before it is there.
#[derive(Clone, Debug)]
pub(super) struct Known<'a> {
    /// The most that it costs to come to it.
    pub(super) cost: u64,
    pub(super) of: &'a Type,
    pub(super) size: Option<Size>,
    pub(super) entry: Option<EntrySize>,
    pub(super) place: Place<'a>,
    /// The number that stands in the expression itself.
    pub(super) number: Option<i64>,
}

/// The sizes of what a list or map in the expression is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntrySize {
    pub(super) is_list: bool,
    pub(super) key: Size,
    pub(super) value: Size,
}

impl EntrySize {
    /// What covers both, where both are known.
    pub(super) fn or(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (one, other) = one.zip(other)?;
        Some(Self {
            is_list: one.is_list,
            key: one.key.or(other.key),
            value: one.value.or(other.value),
        })
    }
}

impl<'a> Known<'a> {
    /// A value of which nothing is known but its type.
    pub(super) fn of(of: &'a Type, cost: u64) -> Self {
        Self {
            cost,
            of,
            size: sized(Place::Nowhere, of, None),
            entry: None,
            place: Place::Nowhere,
            number: None,
        }
    }

    /// How large it can be.
    pub(super) fn size(&self) -> Size {
        self.size.unwrap_or(Size::UNKNOWN)
    }

    /// How large the items of it can be, if it is a list.
    pub(super) fn element_size(&self) -> Size {
        match self.place {
            Place::At(declared) => declared
                .element
                .as_ref()
                .map_or(Size::UNKNOWN, |element| Size::up_to(element.most)),
            Place::Nowhere | Place::Lost => Size::UNKNOWN,
        }
    }
}

/// How large a value can be by its place, else by its type, else as it was bound.
pub(super) fn sized(place: Place<'_>, of: &Type, bound: Option<Size>) -> Option<Size> {
    match place {
        Place::At(declared) => Some(Size::up_to(declared.most)),
        Place::Nowhere | Place::Lost if is_scalar(of) => Some(Size::exactly(1)),
        Place::Nowhere | Place::Lost => bound,
    }
}

/// Whether all values of a type are of one size (`isScalar`).
fn is_scalar(of: &Type) -> bool {
    match of {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => {
            true
        }
        Type::Optional(of) => is_scalar(of),
        _ => false,
    }
}
