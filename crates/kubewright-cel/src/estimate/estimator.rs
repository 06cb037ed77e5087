//! Traverses an expression from its leaves to its root.

use super::node_estimate::{Container, ElementSizes, NodeEstimate, size_of};
use super::size_limits::{Origin, SizeLimits, Step};
use crate::check::{ComposedAccess, TypedCall, TypedEntry, TypedExpr, TypedItem, TypedNode};
use crate::cost::{CREATE_LIST, CREATE_MAP, CREATE_OBJECT, Operand, Operands, SizeEstimate};
use crate::functions::ResultItems;
use crate::values::{Type, Value};

/// The maximum cost of an expression. `limits` are those of the schema of its variables.
pub(crate) fn estimate(expr: &TypedExpr, limits: &SizeLimits) -> u64 {
    let mut estimator = Estimator {
        root: limits,
        locals: Vec::new(),
    };
    estimator.expr(expr).cost
}

pub(super) struct Estimator<'a> {
    pub(super) root: &'a SizeLimits,
    /// The variables of the comprehensions around the current node.
    pub(super) locals: Vec<Local<'a>>,
}

/// A variable of a comprehension.
#[derive(Clone, Debug)]
pub(super) struct Local<'a> {
    pub(super) origin: Origin<'a>,
    pub(super) size: Option<SizeEstimate>,
}

impl<'a> Estimator<'a> {
    pub(super) fn expr(&mut self, expr: &'a TypedExpr) -> NodeEstimate<'a> {
        let of = &expr.of;
        match &expr.node {
            TypedNode::Literal(value) => NodeEstimate {
                size: Some(literal_size(value)),
                literal: match value {
                    Value::Int(number) => Some(*number),
                    _ => None,
                },
                ..NodeEstimate::of(of, 0)
            },
            TypedNode::Local(index) => self.local(*index, of),
            TypedNode::Variable(_) | TypedNode::TypeName(_) => self.variable(of),
            TypedNode::Select(operand, field) => {
                let operand = self.expr(operand);
                let is_charged = matches!(operand.of, Type::Map(..) | Type::Object(_));
                let cost = operand.cost.saturating_add(u64::from(is_charged));
                let origin = operand.origin.step(Step::Field(field), self.root);
                field_estimate(origin, of, cost)
            }
            TypedNode::OptionalSelect(operand, key) => {
                let costs = [self.expr(operand).cost, self.expr(key).cost, 1];
                NodeEstimate::of(of, sum(costs))
            }
            // The test of a field is free.
            TypedNode::Has(operand, _) => {
                let cost = self.expr(operand).cost;
                NodeEstimate::of(of, cost)
            }
            TypedNode::Composed(access, field) => match access {
                ComposedAccess::Select => {
                    let origin = Origin::Schema(self.root).step(Step::Field(field), self.root);
                    field_estimate(origin, of, 1)
                }
                ComposedAccess::OptionalSelect => NodeEstimate::of(of, 2),
                ComposedAccess::Has => NodeEstimate::of(of, 1),
            },
            TypedNode::Call(call) => self.call(call, of),
            TypedNode::Logic(_, args) => {
                let costs: Vec<u64> = args.iter().map(|arg| self.expr(arg).cost).collect();
                NodeEstimate::of(of, sum(costs))
            }
            TypedNode::Conditional(parts) => self.conditional(parts, of),
            TypedNode::List(items) => self.list(items, of),
            TypedNode::Map(entries) => self.map(entries, of),
            TypedNode::Comprehension(comprehension) => self.comprehension(comprehension, of),
            TypedNode::Object(object) => {
                let members = object.members.iter();
                let costs: Vec<u64> = members
                    .map(|member| self.expr(&member.value).cost)
                    .collect();
                NodeEstimate::of(of, sum(costs).saturating_add(CREATE_OBJECT))
            }
        }
    }

    fn local(&self, index: usize, of: &'a Type) -> NodeEstimate<'a> {
        let Some(local) = self.locals.get(index) else {
            return self.variable(of);
        };
        NodeEstimate {
            size: size_of(local.origin, of, local.size),
            origin: local.origin,
            ..NodeEstimate::of(of, 1)
        }
    }

    /// All variables are taken for the root of the schema, as in Kubernetes.
    fn variable(&self, of: &'a Type) -> NodeEstimate<'a> {
        field_estimate(Origin::Schema(self.root), of, 1)
    }

    fn conditional(
        &mut self,
        [condition, then, otherwise]: &'a [TypedExpr; 3],
        of: &'a Type,
    ) -> NodeEstimate<'a> {
        let condition = self.expr(condition).cost;
        let (then, otherwise) = (self.expr(then), self.expr(otherwise));
        NodeEstimate {
            size: Some(then.size().union(otherwise.size())),
            elements: ElementSizes::union(then.elements, otherwise.elements),
            ..NodeEstimate::of(of, condition.saturating_add(then.cost.max(otherwise.cost)))
        }
    }

    fn list(&mut self, items: &'a [TypedItem], of: &'a Type) -> NodeEstimate<'a> {
        let values: Vec<NodeEstimate<'a>> =
            items.iter().map(|item| self.expr(&item.value)).collect();
        let cost = sum(values.iter().map(|value| value.cost)).saturating_add(CREATE_LIST);
        NodeEstimate {
            size: Some(SizeEstimate::exactly(length(items.len()))),
            elements: Some(ElementSizes {
                container: Container::List,
                key: SizeEstimate::exactly(1),
                value: union_of(&values),
            }),
            ..NodeEstimate::of(of, cost)
        }
    }

    fn map(&mut self, entries: &'a [TypedEntry], of: &'a Type) -> NodeEstimate<'a> {
        let keys: Vec<NodeEstimate<'a>> =
            entries.iter().map(|entry| self.expr(&entry.key)).collect();
        let values: Vec<NodeEstimate<'a>> = entries
            .iter()
            .map(|entry| self.expr(&entry.value))
            .collect();
        let costs = keys.iter().chain(&values).map(|part| part.cost);
        let cost = sum(costs).saturating_add(CREATE_MAP);
        NodeEstimate {
            size: Some(SizeEstimate::exactly(length(entries.len()))),
            elements: Some(ElementSizes {
                container: Container::Map,
                key: union_of(&keys),
                value: union_of(&values),
            }),
            ..NodeEstimate::of(of, cost)
        }
    }

    /// The cost of a call is that of its most expensive overload (`functionCost`).
    fn call(&mut self, call: &'a TypedCall, of: &'a Type) -> NodeEstimate<'a> {
        let args: Vec<NodeEstimate<'a>> = call.args.iter().map(|arg| self.expr(arg)).collect();
        let operands: Vec<Operand<'a>> = args.iter().map(NodeEstimate::operand).collect();
        let first = args.first();
        let mut cost = 0;
        let mut result = NodeEstimate::of(of, 0);
        result.size = None;
        for overload in call.resolution.matching() {
            let estimate = (overload.estimator)(Operands(&operands));
            cost = cost.max(estimate.cost);
            if let Some(size) = estimate.size {
                result.size = Some(result.size.map_or(size, |known| known.union(size)));
            }
            match overload.items {
                ResultItems::Unknown => {}
                ResultItems::SameAsArgument => {
                    result.elements = first.and_then(|first| first.elements);
                }
                ResultItems::FromBothArguments => {
                    let second = args.get(1).and_then(|second| second.elements);
                    let first = first.and_then(|first| first.elements);
                    result.elements = ElementSizes::union(first, second);
                }
                ResultItems::ItemOfFirst => {
                    if let Some(first) = first {
                        result.size = first.elements.map(|elements| elements.value);
                        result.origin = first.origin.step(Step::Element, self.root);
                    }
                }
            }
            if result.size.is_none() {
                result.size = size_of(result.origin, of, None);
            }
        }
        result.cost = sum(args.iter().map(|arg| arg.cost)).saturating_add(cost);
        result
    }
}

fn field_estimate<'a>(origin: Origin<'a>, of: &'a Type, cost: u64) -> NodeEstimate<'a> {
    NodeEstimate {
        size: size_of(origin, of, None),
        origin,
        ..NodeEstimate::of(of, cost)
    }
}

/// The size of one of several values; zero if there are none.
fn union_of(values: &[NodeEstimate<'_>]) -> SizeEstimate {
    let sizes = values.iter().map(NodeEstimate::size);
    sizes
        .reduce(SizeEstimate::union)
        .unwrap_or(SizeEstimate::exactly(0))
}

fn literal_size(value: &Value) -> SizeEstimate {
    SizeEstimate::exactly(match value {
        Value::String(text) => length(text.chars().count()),
        Value::Bytes(bytes) => length(bytes.len()),
        _ => 1,
    })
}

fn length(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// The sum of costs. Saturates.
pub(super) fn sum(costs: impl IntoIterator<Item = u64>) -> u64 {
    costs.into_iter().fold(0, u64::saturating_add)
}
