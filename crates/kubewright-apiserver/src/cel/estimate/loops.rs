use super::declared::{Place, Step};
use super::known::{EntrySize, Known, sized};
use super::size::{Size, scaled};
use super::walk::{LIST, Local, MAP, Walk, sum};
use crate::cel::expr::{Loop, LoopKind};
use crate::cel::types::Type;

static OPEN: Type = Type::Dyn;

/// What a macro is made of, in the parts of a comprehension.
struct Comprehension {
    /// What it costs to begin and to end.
    once: u64,
    /// What one item costs.
    each: u64,
    entry: Option<EntrySize>,
    makes: Makes,
}

/// What comes of a comprehension.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Makes {
    One,
    /// As many as there were.
    Many,
}

impl<'a> Walk<'a> {
    pub(super) fn looped(&mut self, looped: &'a Loop, of: &'a Type) -> Known<'a> {
        let range = self.expr(&looped.range);
        match looped.kind {
            LoopKind::OptMap | LoopKind::OptFlatMap => self.optional(looped, &range, of),
            LoopKind::SortBy => self.sorted(looped, &range, of),
            _ => self.comprehension(looped, &range, of),
        }
    }

    fn comprehension(&mut self, looped: &'a Loop, range: &Known<'a>, of: &'a Type) -> Known<'a> {
        let bound = self.locals.len();
        self.bind(looped, range);
        let item = self.item_size(range);
        let filter = looped.filter.as_ref();
        let filter = filter.map_or(0, |filter| self.expr(filter).cost);
        let body = self.expr(&looped.body);
        self.locals.truncate(bound);
        let parts = parts_of(looped.kind, filter, &body, item);
        let turns = range.size();
        let cost = range.cost.saturating_add(parts.once);
        let cost = cost.saturating_add(turns.most.saturating_mul(parts.each));
        Known {
            size: Some(match parts.makes {
                Makes::One => Size::exactly(1),
                Makes::Many => turns,
            }),
            entry: parts.entry,
            ..Known::of(of, cost)
        }
    }

    /// Binds the names of a loop to the parts of what it goes over.
    fn bind(&mut self, looped: &'a Loop, range: &Known<'a>) {
        let is_list = is_list(range);
        let key = range.entry.map(|entry| entry.key);
        let value = range.entry.map(|entry| entry.value);
        let key_step = if is_list { Step::Index } else { Step::Key };
        let bound = match (looped.names.len(), is_list) {
            (2, _) => vec![(key_step, key), (Step::Element, value)],
            (_, true) => vec![(Step::Element, value)],
            (_, false) => vec![(Step::Key, key)],
        };
        for (name, (step, size)) in looped.names.iter().zip(bound) {
            self.locals.push(Local {
                name,
                place: range.place.step(step, self.root),
                size,
                entry: None,
            });
        }
    }

    /// How large the first name of the loop that was bound last can be.
    fn item_size(&self, range: &Known<'a>) -> Size {
        let of: &Type = match range.of {
            Type::List(of, _) | Type::Map(of, _) => of,
            _ => &OPEN,
        };
        let local = self.locals.last();
        let size = local.and_then(|local| sized(local.place, of, local.size));
        size.unwrap_or(Size::UNKNOWN)
    }

    /// `sortBy`: a list of keys is made, and sorted along with the items.
    fn sorted(&mut self, looped: &'a Loop, range: &Known<'a>, of: &'a Type) -> Known<'a> {
        let bound = self.locals.len();
        self.bind(looped, range);
        let body = self.expr(&looped.body);
        self.locals.truncate(bound);
        let turns = range.size();
        // The items have a name while they are sorted, which is read twice.
        let keys = LIST.saturating_add(2).saturating_add(
            turns
                .most
                .saturating_mul(body.cost.saturating_add(LIST + 2)),
        );
        let pairs = turns.times(turns);
        let factor = match body.of {
            Type::String | Type::Bytes | Type::Dyn => 2.1,
            _ => 2.0,
        };
        let costs = [
            range.cost,
            LIST,
            1,
            keys,
            scaled(pairs.most, factor),
            1,
            LIST,
        ];
        Known {
            size: Some(pairs),
            ..Known::of(of, sum(costs))
        }
    }

    /// `optMap` and `optFlatMap`: a choice, in which the value has a name.
    fn optional(&mut self, looped: &'a Loop, range: &Known<'a>, of: &'a Type) -> Known<'a> {
        let inner: &Type = match range.of {
            Type::Optional(of) => of,
            _ => &OPEN,
        };
        let bound = self.locals.len();
        let size = sized(Place::Nowhere, inner, None);
        self.locals.extend(looped.names.iter().map(|name| Local {
            name,
            place: Place::Nowhere,
            size,
            entry: None,
        }));
        let body = self.expr(&looped.body);
        self.locals.truncate(bound);
        let asked = range.cost.saturating_add(1);
        let mut made = sum([LIST, asked, body.cost]);
        let plain = Known::of(of, 0).size();
        let mut size = plain.or(body.size());
        if looped.kind == LoopKind::OptMap {
            made = made.saturating_add(1);
            size = plain;
        }
        Known {
            size: Some(size),
            ..Known::of(of, asked.saturating_add(made))
        }
    }
}

/// Whether a loop goes over a list, as far as is known.
fn is_list(range: &Known<'_>) -> bool {
    let is_list = range.entry.map(|entry| entry.is_list);
    is_list.unwrap_or(matches!(range.of, Type::List(..)))
}

/// The comprehension that a macro stands for (cel-go/parser/macro.go, ext/comprehensions.go).
/// Names of results cost one each time, as all names do.
fn parts_of(kind: LoopKind, filter: u64, body: &Known<'_>, item: Size) -> Comprehension {
    let many = |start: u64, each: u64, entry: Option<Size>| Comprehension {
        once: start + 1,
        each: each.saturating_add(filter),
        entry: entry.map(|value| EntrySize {
            is_list: true,
            key: Size::exactly(1),
            value: value.or(Size::exactly(0)),
        }),
        makes: Makes::Many,
    };
    let one = |once: u64, each: u64| Comprehension {
        once,
        each: each.saturating_add(body.cost),
        entry: None,
        makes: Makes::One,
    };
    let made = |cost: u64| body.cost.saturating_add(cost);
    match kind {
        LoopKind::All => one(1, 3),
        LoopKind::Exists => one(1, 4),
        LoopKind::ExistsOne => one(2, 2),
        // Result, item and filter; the list of the item; the sum.
        LoopKind::Filter => many(LIST, made(LIST + 3), Some(item)),
        LoopKind::TransformMap => many(MAP, made(3), None),
        LoopKind::TransformMapEntry => many(MAP, made(2), None),
        // Those that are not comprehensions by themselves make such a one of a list.
        LoopKind::Map
        | LoopKind::TransformList
        | LoopKind::SortBy
        | LoopKind::OptMap
        | LoopKind::OptFlatMap => many(LIST, made(LIST + 2), Some(body.size())),
    }
}
