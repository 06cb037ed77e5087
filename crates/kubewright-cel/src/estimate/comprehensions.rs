//! Estimates comprehensions by what cel-go expands their macros to.

use super::estimator::{Estimator, Local, sum};
use super::node_estimate::{Container, ElementSizes, NodeEstimate, size_of};
use super::size_limits::{Origin, Step};
use crate::check::TypedComprehension;
use crate::cost::{CREATE_LIST, CREATE_MAP, STRING_CHARACTER, SizeEstimate, scale};
use crate::syntax::ComprehensionKind;
use crate::values::Type;

static DYN: Type = Type::Dyn;

/// The costs of the parts of a comprehension.
struct Parts {
    /// The cost of the accumulator and of the result.
    once: u64,
    /// The cost of one iteration.
    iteration: u64,
    elements: Option<ElementSizes>,
    result: ResultSize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ResultSize {
    One,
    /// That of the range.
    Range,
}

impl<'a> Estimator<'a> {
    pub(super) fn comprehension(
        &mut self,
        comprehension: &'a TypedComprehension,
        of: &'a Type,
    ) -> NodeEstimate<'a> {
        let range = self.expr(&comprehension.range);
        match comprehension.kind {
            ComprehensionKind::OptMap | ComprehensionKind::OptFlatMap => {
                self.optional(comprehension, &range, of)
            }
            ComprehensionKind::SortBy => self.sort_by(comprehension, &range, of),
            _ => self.iteration(comprehension, &range, of),
        }
    }

    fn iteration(
        &mut self,
        comprehension: &'a TypedComprehension,
        range: &NodeEstimate<'a>,
        of: &'a Type,
    ) -> NodeEstimate<'a> {
        let outer = self.locals.len();
        self.bind(comprehension.variable_count, range);
        let item = self.item_size(range);
        let filter = comprehension.filter.as_ref();
        let filter_cost = filter.map_or(0, |filter| self.expr(filter).cost);
        let body = self.expr(&comprehension.body);
        self.locals.truncate(outer);
        let parts = parts(comprehension.kind, filter_cost, &body, item);
        let iterations = range.size();
        let cost = sum([
            range.cost,
            parts.once,
            iterations.max.saturating_mul(parts.iteration),
        ]);
        NodeEstimate {
            size: Some(match parts.result {
                ResultSize::One => SizeEstimate::exactly(1),
                ResultSize::Range => iterations,
            }),
            elements: parts.elements,
            ..NodeEstimate::of(of, cost)
        }
    }

    /// Binds the variables of a comprehension to the parts of its range.
    fn bind(&mut self, variable_count: usize, range: &NodeEstimate<'a>) {
        let is_list = is_list(range);
        let key_size = range.elements.map(|elements| elements.key);
        let value_size = range.elements.map(|elements| elements.value);
        let key_step = if is_list { Step::Index } else { Step::Key };
        let key = (key_step, key_size);
        let value = (Step::Element, value_size);
        let bound = match variable_count {
            2 => vec![key, value],
            1 if is_list => vec![value],
            1 => vec![key],
            _ => Vec::new(),
        };
        for (step, size) in bound {
            let origin = range.origin.step(step, self.root);
            self.locals.push(Local { origin, size });
        }
    }

    /// The size of the last variable that was bound.
    fn item_size(&self, range: &NodeEstimate<'a>) -> SizeEstimate {
        let of: &Type = match range.of {
            Type::List(of, _) | Type::Map(of, _) => of,
            _ => &DYN,
        };
        let local = self.locals.last();
        let size = local.and_then(|local| size_of(local.origin, of, local.size));
        size.unwrap_or(SizeEstimate::UNKNOWN)
    }

    /// `sortBy` creates a list of the keys and sorts the items along with it.
    fn sort_by(
        &mut self,
        comprehension: &'a TypedComprehension,
        range: &NodeEstimate<'a>,
        of: &'a Type,
    ) -> NodeEstimate<'a> {
        let outer = self.locals.len();
        self.bind(comprehension.variable_count, range);
        let body = self.expr(&comprehension.body);
        self.locals.truncate(outer);
        let iterations = range.size();
        let keys = iterations
            .max
            .saturating_mul(body.cost.saturating_add(CREATE_LIST + 2))
            .saturating_add(CREATE_LIST + 2);
        let pairs = iterations.times(iterations);
        let factor = match body.of {
            Type::String | Type::Bytes | Type::Dyn => 2.0 + STRING_CHARACTER,
            _ => 2.0,
        };
        // The range is bound to a variable, which is read twice.
        let costs = [
            range.cost,
            CREATE_LIST,
            1,
            keys,
            scale(pairs.max, factor),
            1,
            CREATE_LIST,
        ];
        NodeEstimate {
            size: Some(pairs),
            ..NodeEstimate::of(of, sum(costs))
        }
    }

    /// `optMap` and `optFlatMap` are conditionals in which the value is bound to a variable.
    fn optional(
        &mut self,
        comprehension: &'a TypedComprehension,
        range: &NodeEstimate<'a>,
        of: &'a Type,
    ) -> NodeEstimate<'a> {
        let inner: &Type = match range.of {
            Type::Optional(of) => of,
            _ => &DYN,
        };
        let outer = self.locals.len();
        let origin = Origin::Computed;
        let local_size = size_of(origin, inner, None);
        for _ in 0..comprehension.variable_count {
            self.locals.push(Local {
                origin,
                size: local_size,
            });
        }
        let body = self.expr(&comprehension.body);
        self.locals.truncate(outer);
        let test = range.cost.saturating_add(1);
        let then = sum([CREATE_LIST, test, body.cost]);
        let none_size = NodeEstimate::of(of, 0).size();
        let (then, size) = match comprehension.kind {
            ComprehensionKind::OptMap => (then.saturating_add(1), none_size),
            _ => (then, none_size.union(body.size())),
        };
        NodeEstimate {
            size: Some(size),
            ..NodeEstimate::of(of, test.saturating_add(then))
        }
    }
}

/// Whether the range is a list, as far as is known.
fn is_list(range: &NodeEstimate<'_>) -> bool {
    match range.elements {
        Some(elements) => elements.container == Container::List,
        None => matches!(range.of, Type::List(..)),
    }
}

/// The costs of the comprehension that a macro expands to (cel-go/parser/macro.go,
/// ext/comprehensions.go). Each use of the accumulator costs one, as that of any variable.
fn parts(
    kind: ComprehensionKind,
    filter: u64,
    body: &NodeEstimate<'_>,
    item: SizeEstimate,
) -> Parts {
    let collection = |create: u64, iteration: u64, value: Option<SizeEstimate>| Parts {
        once: create + 1,
        iteration: body.cost.saturating_add(iteration).saturating_add(filter),
        elements: value.map(|value| ElementSizes {
            container: Container::List,
            key: SizeEstimate::exactly(1),
            value: value.union(SizeEstimate::exactly(0)),
        }),
        result: ResultSize::Range,
    };
    let scalar = |once: u64, iteration: u64| Parts {
        once,
        iteration: body.cost.saturating_add(iteration),
        elements: None,
        result: ResultSize::One,
    };
    match kind {
        ComprehensionKind::All => scalar(1, 3),
        ComprehensionKind::Exists => scalar(1, 4),
        ComprehensionKind::ExistsOne => scalar(2, 2),
        // The accumulator, the item, the condition and the list that is added.
        ComprehensionKind::Filter => collection(CREATE_LIST, CREATE_LIST + 3, Some(item)),
        ComprehensionKind::TransformMap => collection(CREATE_MAP, 3, None),
        ComprehensionKind::TransformMapEntry => collection(CREATE_MAP, 2, None),
        // The last three do not get here: they are no comprehensions in cel-go.
        ComprehensionKind::Map
        | ComprehensionKind::TransformList
        | ComprehensionKind::SortBy
        | ComprehensionKind::OptMap
        | ComprehensionKind::OptFlatMap => {
            collection(CREATE_LIST, CREATE_LIST + 2, Some(body.size()))
        }
    }
}
