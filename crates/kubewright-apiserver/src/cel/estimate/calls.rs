use super::known::Known;
use super::library::{list_cost, own_cost};
use super::size::{Size, scaled};
use crate::cel::signatures::Signature;
use crate::cel::types::Type;

/// What each character of a text costs to look at.
pub(super) const CHARACTER: f64 = 0.1;
/// What each character of a pattern costs, for each unit of the text.
pub(super) const PATTERN: f64 = 0.25;

/// What a call costs beside its arguments, and how large its result can be.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallCost {
    pub(super) cost: u64,
    pub(super) size: Option<Size>,
}

impl CallCost {
    pub(super) fn of(cost: u64) -> Self {
        Self { cost, size: None }
    }

    pub(super) fn sized(cost: u64, size: Size) -> Self {
        Self {
            cost,
            size: Some(size),
        }
    }
}

/// What one form of a function costs (`functionCost`): libraries tell first, then what the
/// language has; everything else costs one.
pub(super) fn call_cost(
    name: &str,
    form: &Signature,
    target: Option<&Known<'_>>,
    args: &[Known<'_>],
) -> CallCost {
    list_cost(name, form, target, args)
        .or_else(|| own_cost(name, form, target, args))
        .or_else(|| language_cost(name, form, target, args))
        .unwrap_or(CallCost::of(1))
}

fn language_cost(
    name: &str,
    form: &Signature,
    target: Option<&Known<'_>>,
    args: &[Known<'_>],
) -> Option<CallCost> {
    let first = form.takes.first()?;
    Some(match (name, target, args) {
        ("format", Some(target), _) => CallCost::of(target.size().cost(CHARACTER)),
        ("bytes", None, [text]) if *first == Type::String => {
            let size = text.size();
            let most = size.most.wrapping_mul(4);
            let least = size.least;
            CallCost::sized(size.cost(CHARACTER), Size { least, most })
        }
        ("string", None, [bytes]) if *first == Type::Bytes => {
            let size = bytes.size();
            let least = size.least / 4;
            let most = size.most;
            CallCost::sized(size.cost(CHARACTER), Size { least, most })
        }
        ("strings.quote", None, [text]) => {
            let size = text.size();
            let quoted = Size {
                least: size.least.wrapping_add(2),
                most: size.most.wrapping_mul(2).wrapping_add(2),
            };
            CallCost::sized(size.cost(CHARACTER), quoted)
        }
        ("startsWith" | "endsWith", Some(_), [part]) => CallCost::of(part.size().cost(CHARACTER)),
        ("@in", None, [_, list]) if matches!(form.takes.get(1), Some(Type::List(..))) => {
            CallCost::of(list.size().most)
        }
        ("matches", Some(text), [pattern]) => CallCost::of(pattern_cost(text, pattern)),
        ("contains", Some(text), [part]) => {
            let cost = text.size().cost(CHARACTER);
            CallCost::of(cost.saturating_mul(part.size().cost(CHARACTER)))
        }
        ("_+_", None, [one, other]) => sum_cost(first, one.size().plus(other.size()))?,
        ("_==_" | "_!=_", None, [one, other]) => CallCost::of(comparison_cost(one, other)),
        ("_<_" | "_<=_" | "_>_" | "_>=_", None, [one, other])
            if matches!(first, Type::String | Type::Bytes) =>
        {
            CallCost::of(comparison_cost(one, other))
        }
        _ => return None,
    })
}

/// A text against a pattern. One is added to the text, as an empty one still costs the pattern.
pub(super) fn pattern_cost(text: &Known<'_>, pattern: &Known<'_>) -> u64 {
    let text = text.size().plus(Size::exactly(1)).cost(CHARACTER);
    text.saturating_mul(pattern.size().cost(PATTERN))
}

fn sum_cost(first: &Type, size: Size) -> Option<CallCost> {
    Some(match first {
        Type::String | Type::Bytes => CallCost::sized(size.cost(CHARACTER), size),
        Type::List(..) => CallCost::sized(1, size),
        _ => return None,
    })
}

/// No more is compared than the smaller has.
fn comparison_cost(one: &Known<'_>, other: &Known<'_>) -> u64 {
    scaled(one.size().most.min(other.size().most), CHARACTER)
}
