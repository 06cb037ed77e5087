use super::calls::call_cost;
use super::declared::{Declared, Place, Step};
use super::known::{EntrySize, Known, sized};
use super::size::Size;
use crate::cel::expr::{Call, Entry, Expr, Item, Node};
use crate::cel::forms::result;
use crate::cel::signatures::{Signature, signatures};
use crate::cel::types::Type;
use crate::cel::value::Value;

/// What making a list or a map costs.
pub(super) const LIST: u64 = 10;
pub(super) const MAP: u64 = 30;
/// What making an object costs.
const STRUCT: u64 = 40;

/// The most that a checked expression can cost. `declared` is what the schema says of `self`.
pub(in crate::cel) fn estimate(expr: &Expr, declared: &Declared) -> u64 {
    let mut walk = Walk {
        root: declared,
        locals: Vec::new(),
    };
    walk.expr(expr).cost
}

/// A walk over an expression, from the leaves to the root.
pub(super) struct Walk<'a> {
    pub(super) root: &'a Declared,
    pub(super) locals: Vec<Local<'a>>,
}

/// What a loop binds.
#[derive(Clone, Debug)]
pub(super) struct Local<'a> {
    pub(super) name: &'a str,
    pub(super) place: Place<'a>,
    pub(super) size: Option<Size>,
    pub(super) entry: Option<EntrySize>,
}

impl<'a> Walk<'a> {
    pub(super) fn expr(&mut self, expr: &'a Expr) -> Known<'a> {
        let of = &expr.of;
        match &expr.node {
            Node::Literal(value) => Known {
                size: Some(literal_size(value)),
                number: match value {
                    Value::Int(number) => Some(*number),
                    _ => None,
                },
                ..Known::of(of, 0)
            },
            Node::Ident(name) => self.ident(name, of),
            Node::Select(operand, field) => {
                let operand = self.expr(operand);
                let is_followed = matches!(operand.of, Type::Map(..) | Type::Object(_));
                let cost = operand.cost.saturating_add(u64::from(is_followed));
                let place = operand.place.step(Step::Field(field), self.root);
                Known {
                    size: sized(place, of, None),
                    place,
                    ..Known::of(of, cost)
                }
            }
            Node::MaybeSelect(operand, key) => {
                let costs = [self.expr(operand).cost, self.expr(key).cost, 1];
                Known::of(of, sum(costs))
            }
            // To look whether something is there costs nothing.
            Node::Has(operand, _) => {
                let cost = self.expr(operand).cost;
                Known::of(of, cost)
            }
            Node::Call(call) => self.call(call, of),
            Node::Logic(logic) => {
                let costs: Vec<u64> = logic.args.iter().map(|arg| self.expr(arg).cost).collect();
                Known::of(of, sum(costs))
            }
            Node::Choice(parts) => self.choice(parts, of),
            Node::List(items) => self.list(items, of),
            Node::Map(entries) => self.map(entries, of),
            Node::Loop(looped) => self.looped(looped, of),
            Node::Make(make) => {
                let values = make
                    .members
                    .iter()
                    .map(|member| self.expr(&member.value).cost);
                let costs: Vec<u64> = values.collect();
                Known::of(of, sum(costs).saturating_add(STRUCT))
            }
        }
    }

    fn ident(&self, name: &str, of: &'a Type) -> Known<'a> {
        let local = self.locals.iter().rev().find(|local| local.name == name);
        let (place, bound, entry) = match local {
            Some(local) => (local.place, local.size, local.entry),
            None => (Place::At(self.root), None, None),
        };
        Known {
            size: sized(place, of, bound),
            entry,
            place,
            ..Known::of(of, 1)
        }
    }

    fn choice(&mut self, [condition, yes, no]: &'a [Expr; 3], of: &'a Type) -> Known<'a> {
        let condition = self.expr(condition).cost;
        let (yes, no) = (self.expr(yes), self.expr(no));
        Known {
            size: Some(yes.size().or(no.size())),
            entry: EntrySize::or(yes.entry, no.entry),
            ..Known::of(of, condition.saturating_add(yes.cost.max(no.cost)))
        }
    }

    fn list(&mut self, items: &'a [Item], of: &'a Type) -> Known<'a> {
        let items: Vec<Known<'a>> = items.iter().map(|item| self.expr(&item.value)).collect();
        let cost = sum(items.iter().map(|item| item.cost)).saturating_add(LIST);
        Known {
            size: Some(Size::exactly(count(items.len()))),
            entry: Some(EntrySize {
                is_list: true,
                key: Size::exactly(1),
                value: covering(&items),
            }),
            ..Known::of(of, cost)
        }
    }

    fn map(&mut self, entries: &'a [Entry], of: &'a Type) -> Known<'a> {
        let keys: Vec<Known<'a>> = entries.iter().map(|one| self.expr(&one.key)).collect();
        let values: Vec<Known<'a>> = entries.iter().map(|one| self.expr(&one.value)).collect();
        let cost = sum(keys.iter().chain(&values).map(|one| one.cost)).saturating_add(MAP);
        Known {
            size: Some(Size::exactly(count(entries.len()))),
            entry: Some(EntrySize {
                is_list: false,
                key: covering(&keys),
                value: covering(&values),
            }),
            ..Known::of(of, cost)
        }
    }

    fn call(&mut self, call: &'a Call, of: &'a Type) -> Known<'a> {
        let args: Vec<Known<'a>> = call.args.iter().map(|arg| self.expr(arg)).collect();
        let target = call.target.as_deref().map(|target| self.expr(target));
        if let ("dyn", [arg]) = (call.name.as_str(), args.as_slice()) {
            // What only hides a type has the size of what it hides, and is followed no further.
            return Known {
                size: arg.size,
                entry: arg.entry,
                ..Known::of(of, arg.cost.saturating_add(1))
            };
        }
        let forms = fitting(&call.name, target.as_ref(), &args);
        let spent = sum(args.iter().map(|arg| arg.cost));
        let mut cost = 0;
        let mut found = Known::of(of, 0);
        found.size = None;
        for form in &forms {
            let one = call_cost(&call.name, form, target.as_ref(), &args);
            cost = cost.max(one.cost.saturating_add(spent));
            if let Some(size) = one.size {
                found.size = Some(found.size.map_or(size, |known| known.or(size)));
            }
            if call.name == "_[_]"
                && let Some(list) = args.first()
                && matches!(form.takes.first(), Some(Type::List(..) | Type::Map(..)))
            {
                found.size = list.entry.map(|entry| entry.value);
                found.place = list.place.step(Step::Element, self.root);
            }
            if found.size.is_none() {
                found.size = sized(found.place, of, None);
            }
        }
        if let ("_+_", [one, other]) = (call.name.as_str(), args.as_slice()) {
            found.entry = EntrySize::or(one.entry, other.entry);
        }
        let target = target.map_or(0, |target| target.cost);
        found.cost = cost.saturating_add(target);
        found
    }
}

/// The forms of a function that take these arguments.
fn fitting(name: &str, target: Option<&Known<'_>>, args: &[Known<'_>]) -> Vec<&'static Signature> {
    let types: Vec<Type> = target
        .into_iter()
        .chain(args)
        .map(|known| known.of.clone())
        .collect();
    let forms = signatures(name).unwrap_or_default().iter();
    let forms = forms.filter(|form| form.is_member == target.is_some());
    forms
        .filter(|form| result(form, &types).is_some())
        .collect()
}

/// What covers the sizes of all; nothing where there are none.
fn covering(all: &[Known<'_>]) -> Size {
    let sizes = all.iter().map(Known::size);
    sizes.reduce(Size::or).unwrap_or(Size::exactly(0))
}

fn literal_size(value: &Value) -> Size {
    Size::exactly(match value {
        Value::String(text) => count(text.chars().count()),
        Value::Bytes(bytes) => count(bytes.len()),
        _ => 1,
    })
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// All costs together, as far as numbers go.
pub(super) fn sum(costs: impl IntoIterator<Item = u64>) -> u64 {
    costs.into_iter().fold(0, u64::saturating_add)
}
