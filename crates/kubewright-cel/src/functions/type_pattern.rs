//! The types of parameters and results in the table of overloads.

use crate::values::{Type, Value};

/// The type of a parameter or of a result. Unlike [`Type`] it can be a constant, and it can be one
/// of the type parameters `A` and `B`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypePattern {
    Dyn,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    List(&'static Self),
    Map(&'static Self, &'static Self),
    Optional(&'static Self),
    Type(&'static Self),
    Opaque(&'static str),
    /// A type parameter, by its index. It is the same type in all places of a signature.
    Parameter(usize),
}

/// How many type parameters a signature can have.
const TYPE_PARAMETERS: usize = 2;

pub(super) const DYN: TypePattern = TypePattern::Dyn;
pub(super) const BOOL: TypePattern = TypePattern::Bool;
pub(super) const INT: TypePattern = TypePattern::Int;
pub(super) const UINT: TypePattern = TypePattern::Uint;
pub(super) const DOUBLE: TypePattern = TypePattern::Double;
pub(super) const STRING: TypePattern = TypePattern::String;
pub(super) const BYTES: TypePattern = TypePattern::Bytes;
pub(super) const DURATION: TypePattern = TypePattern::Duration;
pub(super) const TIMESTAMP: TypePattern = TypePattern::Timestamp;
pub(super) const A: TypePattern = TypePattern::Parameter(0);
pub(super) const B: TypePattern = TypePattern::Parameter(1);
pub(super) const LIST_OF_A: TypePattern = list(&A);
pub(super) const LIST_OF_STRING: TypePattern = list(&STRING);
pub(super) const LIST_OF_DYN: TypePattern = list(&DYN);
pub(super) const MAP_OF_A_TO_B: TypePattern = TypePattern::Map(&A, &B);
pub(super) const OPTIONAL_OF_A: TypePattern = optional(&A);

pub(super) const fn list(of: &'static TypePattern) -> TypePattern {
    TypePattern::List(of)
}

pub(super) const fn optional(of: &'static TypePattern) -> TypePattern {
    TypePattern::Optional(of)
}

/// The types that the type parameters of a signature have in one call.
#[derive(Debug, Default)]
pub(super) struct Bindings([Option<Type>; TYPE_PARAMETERS]);

impl TypePattern {
    /// Whether an argument of that type can be passed for this parameter. Binds type parameters.
    pub(super) fn matches(self, argument: &Type, bindings: &mut Bindings) -> bool {
        if let Self::Parameter(index) = self {
            return bindings.bind(index, argument);
        }
        if argument.is_dynamic() {
            return true;
        }
        match (self, argument) {
            (Self::List(of), Type::List(argument, _))
            | (Self::Type(of), Type::Type(argument))
            | (Self::Optional(of), Type::Optional(argument)) => of.matches(argument, bindings),
            (Self::Map(key, value), Type::Map(argument_key, argument_value)) => {
                key.matches(argument_key, bindings) && value.matches(argument_value, bindings)
            }
            (Self::List(_) | Self::Type(_) | Self::Optional(_) | Self::Map(..), _) => false,
            (scalar, argument) => scalar.resolve(bindings).is_compatible(argument),
        }
    }

    /// The type with the bindings of its type parameters. One that no argument binds is `dyn`.
    pub(super) fn resolve(self, bindings: &Bindings) -> Type {
        match self {
            Self::Dyn => Type::Dyn,
            Self::Bool => Type::Bool,
            Self::Int => Type::Int,
            Self::Uint => Type::Uint,
            Self::Double => Type::Double,
            Self::String => Type::String,
            Self::Bytes => Type::Bytes,
            Self::Duration => Type::Duration,
            Self::Timestamp => Type::Timestamp,
            Self::List(of) => Type::list(of.resolve(bindings)),
            Self::Map(key, value) => Type::map(key.resolve(bindings), value.resolve(bindings)),
            Self::Optional(of) => Type::optional(of.resolve(bindings)),
            Self::Type(of) => Type::type_of(of.resolve(bindings)),
            Self::Opaque(name) => Type::Opaque(name),
            Self::Parameter(index) => bindings.get(index),
        }
    }

    /// Whether a value can be passed for this parameter. As in cel-go, the types of items, keys and
    /// optional values do not count (`IsAssignableRuntimeType`).
    pub(super) fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Dyn | Self::Parameter(_), _)
            | (Self::Bool, Value::Bool(_))
            | (Self::Int, Value::Int(_))
            | (Self::Uint, Value::Uint(_))
            | (Self::Double, Value::Double(_))
            | (Self::String, Value::String(_))
            | (Self::Bytes, Value::Bytes(_))
            | (Self::Duration, Value::Duration(_))
            | (Self::Timestamp, Value::Timestamp(_))
            | (Self::List(_), Value::List(..))
            | (Self::Map(..), Value::Map(_))
            | (Self::Optional(_), Value::Optional(_))
            | (Self::Type(_), Value::Type(_)) => true,
            (Self::Opaque(name), value) => value.type_name() == name,
            _ => false,
        }
    }
}

impl Bindings {
    /// Binds a type parameter. An argument of a second type must be compatible with the first.
    fn bind(&mut self, index: usize, argument: &Type) -> bool {
        match self.0.get_mut(index) {
            Some(slot @ None) => {
                *slot = Some(argument.clone());
                true
            }
            Some(Some(bound)) if bound.is_compatible(argument) => {
                *bound = bound.clone().join(argument.clone());
                true
            }
            _ => false,
        }
    }

    fn get(&self, index: usize) -> Type {
        self.0.get(index).cloned().flatten().unwrap_or(Type::Dyn)
    }
}
