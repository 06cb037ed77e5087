use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What a value can be, as far as an expression's author has said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// Anything; looked at only when it is there.
    Dyn,
    /// What an error was found in: no further error follows from it.
    Unknown,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    List(Arc<Self>, ListShape),
    Map(Arc<Self>, Arc<Self>),
    /// An object with declared fields.
    Object(Arc<ObjectType>),
    Optional(Arc<Self>),
    /// A type as a value.
    Meta(Arc<Self>),
    /// An object that an expression makes, with any fields.
    Made(Arc<str>),
    /// A type of Kubernetes' own, such as `kubernetes.Quantity`.
    Own(&'static str),
    /// In a signature: whatever it is, it is the same everywhere.
    Param(usize),
}

/// What tells the items of a list apart, which decides when two lists are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListShape {
    #[default]
    Atomic,
    Set,
    Map(Vec<String>),
}

/// The fields of an object by the names under which expressions find them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ObjectType {
    /// How the type is called in errors.
    pub(crate) name: String,
    /// The field's own name and type, by its escaped name.
    pub(crate) fields: BTreeMap<String, (String, Type)>,
}

impl ObjectType {
    /// A field by the name that an expression uses.
    pub(super) fn field(&self, name: &str) -> Option<&Type> {
        self.fields.get(name).map(|(_, of)| of)
    }
}

impl Type {
    pub(crate) fn list(of: Self) -> Self {
        Self::List(Arc::new(of), ListShape::Atomic)
    }

    pub(crate) fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new(key), Arc::new(value))
    }

    pub(super) fn optional(of: Self) -> Self {
        match of {
            Self::Optional(_) | Self::Unknown => of,
            of => Self::Optional(Arc::new(of)),
        }
    }

    pub(super) fn of_type(of: Self) -> Self {
        Self::Meta(Arc::new(of))
    }

    /// Whether nothing is known before it is there.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Dyn | Self::Unknown)
    }

    /// Whether a value of the one can stand where the other is wanted.
    pub(super) fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            (one, two) if one.is_open() || two.is_open() => true,
            (Self::List(one, _), Self::List(two, _))
            | (Self::Optional(one), Self::Optional(two)) => one.fits(two),
            (Self::Map(key, value), Self::Map(other_key, other_value)) => {
                key.fits(other_key) && value.fits(other_value)
            }
            (Self::Meta(_), Self::Meta(_)) => true,
            (Self::Null, other) | (other, Self::Null) => matches!(
                other,
                Self::Null
                    | Self::Object(_)
                    | Self::Made(_)
                    | Self::Own(_)
                    | Self::Duration
                    | Self::Timestamp
            ),
            (one, two) => one == two,
        }
    }

    /// The type that covers two that fit each other: the one that says more.
    pub(super) fn join(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::Null | Self::Unknown, _) => other,
            (Self::List(one, _), Self::List(..)) if one.is_open() => other,
            (Self::Map(_, one), Self::Map(..)) if one.is_open() => other,
            (Self::Optional(one), Self::Optional(_)) if one.is_open() => other,
            _ => self,
        }
    }

    /// The type with what its parameters stand for.
    pub(super) fn with(&self, bound: &[Option<Self>]) -> Self {
        match self {
            Self::Param(index) => bound
                .get(*index)
                .and_then(Clone::clone)
                .unwrap_or(Self::Dyn),
            Self::List(of, shape) => Self::List(Arc::new(of.with(bound)), shape.clone()),
            Self::Map(key, value) => Self::map(key.with(bound), value.with(bound)),
            Self::Optional(of) => Self::optional(of.with(bound)),
            Self::Meta(of) => Self::of_type(of.with(bound)),
            other => other.clone(),
        }
    }

    /// Whether an argument fits this parameter of a signature; binds what the parameter leaves
    /// open.
    pub(super) fn takes(&self, argument: &Self, bound: &mut [Option<Self>]) -> bool {
        match (self, argument) {
            (Self::Param(index), argument) => match bound.get_mut(*index) {
                Some(slot @ None) => {
                    *slot = Some(argument.clone());
                    true
                }
                Some(Some(known)) if known.fits(argument) => {
                    *known = known.clone().join(argument.clone());
                    true
                }
                _ => false,
            },
            (_, argument) if argument.is_open() => true,
            (Self::List(of, _), Self::List(other, _))
            | (Self::Meta(of), Self::Meta(other))
            | (Self::Optional(of), Self::Optional(other)) => of.takes(other, bound),
            (Self::Map(key, value), Self::Map(other_key, other_value)) => {
                key.takes(other_key, bound) && value.takes(other_value, bound)
            }
            (one, two) => one.fits(two),
        }
    }
}

impl Type {
    /// As `Type.String` of cel-go writes it, which names some types otherwise than errors do.
    pub(super) fn named(&self) -> String {
        match self {
            Self::Null => "null_type".to_owned(),
            Self::Duration => "google.protobuf.Duration".to_owned(),
            Self::Timestamp => "google.protobuf.Timestamp".to_owned(),
            other => other.to_string(),
        }
    }
}

/// As `FormatCELType` of cel-go writes it.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Dyn => "dyn",
            Self::Unknown => "!error!",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Duration => "duration",
            Self::Timestamp => "timestamp",
            Self::Own(name) => name,
            Self::Object(of) => &of.name,
            Self::Made(name) => name,
            Self::List(of, _) => return write!(f, "list({of})"),
            Self::Map(key, value) => return write!(f, "map({key}, {value})"),
            Self::Optional(of) => return write!(f, "optional_type({of})"),
            Self::Meta(of) => return write!(f, "type({of})"),
            Self::Param(index) => return write!(f, "<{index}>"),
        };
        f.write_str(name)
    }
}
