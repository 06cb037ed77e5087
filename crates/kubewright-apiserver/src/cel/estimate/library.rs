use super::calls::{CHARACTER, CallCost, pattern_cost};
use super::known::Known;
use super::size::{Size, parts, scaled};
use super::walk::LIST;
use crate::cel::signatures::Signature;
use crate::cel::types::Type;

/// The longest name of a format, and the longest pattern of one.
const FORMAT: u64 = 64;
const FORMAT_PATTERN: f64 = 32.0;
/// The bytes of the longest address.
const ADDRESS: u64 = 16;

/// The functions on lists and sets that cel-go has besides (cel-go/ext/lists.go, sets.go).
pub(super) fn list_cost(
    name: &str,
    form: &Signature,
    target: Option<&Known<'_>>,
    args: &[Known<'_>],
) -> Option<CallCost> {
    // A number that stands in the expression; one below zero counts as zero.
    let number = |index: usize, otherwise: u64| {
        let number = args.get(index).and_then(|arg| arg.number);
        number.map_or(otherwise, |number| u64::try_from(number).unwrap_or(0))
    };
    let made = |factor: f64, size: Size| {
        let cost = size.cost(factor).saturating_add(1).saturating_add(LIST);
        Some(CallCost::sized(cost, size))
    };
    let sets = |factor: f64| match args {
        [one, other] => {
            let pairs = one.size().times(other.size());
            Some(CallCost::of(pairs.cost(factor).saturating_add(1)))
        }
        _ => None,
    };
    match (name, target) {
        ("slice", Some(list)) => {
            let (start, end) = (number(0, 0), number(1, list.size().most));
            made(1.0, Size::exactly(end.wrapping_sub(start)))
        }
        ("lists.range", None) => made(1.0, Size::exactly(number(0, u64::MAX))),
        ("reverse", Some(list)) => made(1.0, list.size()),
        ("flatten", Some(list)) => {
            let depth = if args.is_empty() {
                1
            } else {
                number(0, u64::MAX)
            };
            made(depth_factor(depth), list.size())
        }
        ("distinct", Some(list)) => made(2.0, list.size().times(list.size())),
        ("sort", Some(list)) => {
            let texts = [Type::list(Type::String), Type::list(Type::Bytes)];
            let is_text = form.takes.first().is_some_and(|of| texts.contains(of));
            let factor = if is_text { 2.0 + CHARACTER } else { 2.0 };
            made(factor, list.size().times(list.size()))
        }
        ("sets.contains" | "sets.intersects", None) => sets(1.0),
        ("sets.equivalent", None) => sets(2.0),
        _ => None,
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a depth that large costs too much however it is rounded"
)]
fn depth_factor(depth: u64) -> f64 {
    depth as f64
}

/// Kubernetes' own functions (`EstimateCallCost` of k8s.io/apiserver/pkg/cel/library).
pub(super) fn own_cost(
    name: &str,
    form: &Signature,
    target: Option<&Known<'_>>,
    args: &[Known<'_>],
) -> Option<CallCost> {
    Some(match (name, target, args) {
        ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", Some(target), _) => {
            CallCost::of(search_cost(target))
        }
        ("url", None, [text])
        | ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(text), _) => {
            CallCost::sized(text.size().cost(CHARACTER), text.size())
        }
        ("replace", Some(text), [old, new, ..]) => {
            let size = replaced(text.size(), old.size(), new.size());
            CallCost::sized(text.size().cost(2.0 * CHARACTER), size)
        }
        ("split", Some(text), _) => {
            let most = args.get(1).and_then(|most| most.number);
            let most = most.map_or(text.size().most, i64::cast_unsigned);
            CallCost::sized(text.size().cost(2.0 * CHARACTER), Size::up_to(most))
        }
        ("join", Some(list), _) => {
            let size = joined(list, args.first());
            CallCost::sized(size.cost(CHARACTER), size)
        }
        ("find" | "findAll", Some(text), [pattern, ..]) => {
            let size = Size::up_to(text.size().most);
            CallCost::sized(pattern_cost(text, pattern), size)
        }
        ("ip", Some(_), _) => CallCost::of(1),
        ("ip.isCanonical", None, [text]) => CallCost::of(text.size().cost(2.0 * CHARACTER)),
        (
            "ip" | "cidr" | "isIP" | "isCIDR" | "quantity" | "isQuantity" | "semver" | "isSemver",
            None,
            [text, ..],
        ) => CallCost::of(text.size().cost(CHARACTER)),
        ("containsIP", Some(_), [other]) => {
            CallCost::of(parsed(form, other).saturating_add(scaled(2 * ADDRESS, CHARACTER)))
        }
        ("containsCIDR", Some(_), [other]) => {
            let bytes = scaled(2 * ADDRESS, CHARACTER) + scaled(ADDRESS, CHARACTER) + 1;
            CallCost::of(parsed(form, other).saturating_add(bytes))
        }
        ("validate", Some(_), [text]) => {
            CallCost::of(scaled(text.size().cost(CHARACTER), FORMAT_PATTERN))
        }
        ("_==_", None, [one, other]) if one.of == other.of => equality_cost(other)?,
        _ => return None,
    })
}

/// Each item is compared, texts by their characters.
fn search_cost(target: &Known<'_>) -> u64 {
    let Type::List(of, _) = target.of else {
        return target.size().cost(CHARACTER);
    };
    let text = match **of {
        Type::String | Type::Bytes => target.element_size().cost(CHARACTER),
        _ => 0,
    };
    target.size().most.saturating_mul(text.saturating_add(1))
}

/// How long a text can be after parts of it were replaced.
fn replaced(text: Size, old: Size, new: Size) -> Size {
    let (times_most, kept_most) = if old.least == 0 {
        // Nothing is found around each character.
        (text.most.saturating_add(1), text.most)
    } else if new.most <= old.least {
        (0, text.most)
    } else {
        (parts(text.most, old.least), 0)
    };
    let (times_least, kept_least) = if old.most == 0 {
        (text.least.saturating_add(1), text.least)
    } else if old.most <= new.least {
        (0, text.least)
    } else {
        (parts(text.least, old.most), 0)
    };
    let times = Size {
        least: times_least,
        most: times_most,
    };
    let kept = Size {
        least: kept_least,
        most: kept_most,
    };
    times.times(new).plus(kept)
}

fn joined(list: &Known<'_>, between: Option<&Known<'_>>) -> Size {
    let count = list.size();
    let texts = match list.of {
        Type::List(..) => count.times(list.element_size()),
        _ => Size::exactly(0),
    };
    let Some(between) = between else {
        return texts;
    };
    let gaps = Size {
        least: count.least.saturating_sub(1),
        most: count.most.saturating_sub(1),
    };
    texts.plus(between.size().times(gaps))
}

/// What it costs to read an address that is a text.
fn parsed(form: &Signature, other: &Known<'_>) -> u64 {
    match form.takes.get(1) {
        Some(Type::String) => other.size().cost(CHARACTER),
        _ => 0,
    }
}

/// Two values of a type of Kubernetes' own.
fn equality_cost(other: &Known<'_>) -> Option<CallCost> {
    let Type::Own(name) = other.of else {
        return None;
    };
    Some(CallCost::of(match *name {
        "kubernetes.NamedFormat" => scaled(FORMAT, CHARACTER),
        "kubernetes.URL" => scaled(other.size.map_or(1, |size| size.most), CHARACTER),
        "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver" => 1,
        _ => return None,
    }))
}
