use std::collections::BTreeMap;
use std::sync::Arc;

use super::budget::Budget;
use super::composition::Scope;
use super::expr::{Call, Entry, Expr, Item, Logic, Make, Node};
use super::functions;
use super::made;
use super::problem::Fault;
use super::program::Variables;
use super::value::{Key, Value};

pub(super) type Evaluated = Result<Value, Fault>;

/// Where names are looked up, and what may be spent.
pub(super) struct Evaluation<'a> {
    pub(super) variables: &'a Variables,
    pub(super) locals: Vec<(String, Value)>,
    pub(super) budget: &'a mut Budget,
    /// What the composed variable has.
    pub(super) scope: Option<Scope<'a>>,
}

impl Evaluation<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Evaluated {
        self.budget.step()?;
        match &expr.node {
            Node::Literal(value) => Ok(value.clone()),
            Node::Ident(name) => self.ident(name),
            Node::Select(operand, field) if self.is_composed(operand) => self.composed(field),
            Node::MaybeSelect(operand, key) if self.is_composed(operand) => {
                let key = self.expr(key)?;
                match &key {
                    Value::String(field) => self.composed(field).map(Value::some),
                    _ => Err(Fault::no_overload()),
                }
            }
            Node::Has(operand, field) if self.is_composed(operand) => {
                self.composed(field).map(|_| Value::Bool(true))
            }
            Node::Select(operand, field) => {
                let operand = self.expr(operand)?;
                select(&operand, field)
            }
            Node::MaybeSelect(operand, key) => {
                let operand = self.expr(operand)?;
                let key = self.expr(key)?;
                Ok(maybe(&operand, &key))
            }
            Node::Has(operand, field) => match self.expr(operand)? {
                Value::Optional(None) => Ok(Value::Bool(false)),
                Value::Optional(Some(value)) => has(&value, field),
                value => has(&value, field),
            },
            Node::Call(call) => self.call(call),
            Node::Logic(logic) => self.logic(logic),
            Node::Choice(parts) => {
                let [condition, yes, no] = &**parts;
                match self.expr(condition)? {
                    Value::Bool(true) => self.expr(yes),
                    Value::Bool(false) => self.expr(no),
                    _ => Err(Fault::no_overload()),
                }
            }
            Node::List(items) => self.list(items),
            Node::Map(entries) => self.map(entries),
            Node::Loop(of) => self.looped(of),
            Node::Make(make) => self.make(make),
        }
    }

    /// Whether the composed variable stands here, and no name of a loop that hides it.
    fn is_composed(&self, operand: &Expr) -> bool {
        match (&operand.node, self.scope) {
            (Node::Ident(name), Some(scope)) => {
                scope.is_called(name) && !self.locals.iter().any(|(local, _)| local == name)
            }
            _ => false,
        }
    }

    fn composed(&mut self, field: &str) -> Evaluated {
        match self.scope {
            Some(scope) => scope.value(field, self.variables, self.budget),
            None => Err(Fault::new(format!("no such key: {field}"))),
        }
    }

    fn make(&mut self, make: &Make) -> Evaluated {
        let mut fields = BTreeMap::new();
        for member in &make.members {
            let value = match (member.is_optional, self.expr(&member.value)?) {
                (false, value) => value,
                (true, Value::Optional(Some(value))) => (*value).clone(),
                (true, Value::Optional(None)) => continue,
                (true, _) => return Err(Fault::no_overload()),
            };
            fields.insert(member.name.clone(), value);
        }
        made::make(&make.name, fields)
    }

    fn ident(&self, name: &str) -> Evaluated {
        let local = self.locals.iter().rev().find(|(local, _)| local == name);
        if let Some((_, value)) = local {
            return Ok(value.clone());
        }
        if let Some(value) = self.variables.get(name) {
            return Ok(value.clone());
        }
        match functions::type_named(name) {
            Some(name) => Ok(Value::Type(name.into())),
            None => Err(Fault::new(format!("no such attribute(s): {name}"))),
        }
    }

    fn call(&mut self, call: &Call) -> Evaluated {
        let mut args = Vec::with_capacity(call.args.len() + 1);
        for arg in call.target.iter().map(|target| &**target).chain(&call.args) {
            args.push(self.expr(arg)?);
        }
        functions::call(&call.name, &args, self.budget)
    }

    /// An operand that decides makes up for one that fails, on whichever side it stands.
    fn logic(&mut self, logic: &Logic) -> Evaluated {
        let mut failed = None;
        for arg in &logic.args {
            match self.expr(arg) {
                Ok(Value::Bool(value)) if value == logic.decides => {
                    return Ok(Value::Bool(value));
                }
                Ok(Value::Bool(_)) => {}
                Ok(_) => failed = failed.or_else(|| Some(Fault::no_overload())),
                Err(Fault::Spent) => return Err(Fault::Spent),
                Err(fault) => failed = failed.or(Some(fault)),
            }
        }
        match failed {
            Some(fault) => Err(fault),
            None => Ok(Value::Bool(!logic.decides)),
        }
    }

    fn list(&mut self, items: &[Item]) -> Evaluated {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            let value = self.expr(&item.value)?;
            match (item.is_optional, value) {
                (false, value) => values.push(value),
                (true, Value::Optional(value)) => {
                    values.extend(value.map(|value| (*value).clone()));
                }
                (true, _) => return Err(Fault::no_overload()),
            }
        }
        Ok(Value::list(values))
    }

    fn map(&mut self, entries: &[Entry]) -> Evaluated {
        let mut values = BTreeMap::new();
        for entry in entries {
            let key = self.expr(&entry.key)?;
            let key = key
                .key()
                .ok_or_else(|| Fault::new("unsupported key type"))?;
            let value = match (entry.is_optional, self.expr(&entry.value)?) {
                (false, value) => value,
                (true, Value::Optional(Some(value))) => (*value).clone(),
                (true, Value::Optional(None)) => continue,
                (true, _) => return Err(Fault::no_overload()),
            };
            if values.insert(key.clone(), value).is_some() {
                let shown = functions::shown(&Value::from(&key));
                return Err(Fault::new(format!("Failed with repeated key {shown}")));
            }
        }
        Ok(Value::map(values))
    }
}

fn key_of(field: &str) -> Key {
    Key::String(field.into())
}

/// `a.b`: what has no fields has none of that name either (`refQualify` of cel-go).
fn select(operand: &Value, field: &str) -> Evaluated {
    match operand {
        Value::Map(entries) => match entries.get(&key_of(field)) {
            Some(value) => Ok(value.clone()),
            None => Err(Fault::new(format!("no such key: {field}"))),
        },
        Value::Optional(_) => Ok(maybe(operand, &Value::text(field))),
        // A field that was not made is null.
        Value::Made(made) => Ok(made.fields.get(field).cloned().unwrap_or(Value::Null)),
        Value::List(..) => Err(Fault::new("unsupported index type 'string' in list")),
        _ => Err(Fault::new(format!("no such key: {field}"))),
    }
}

fn has(operand: &Value, field: &str) -> Evaluated {
    match operand {
        Value::Map(entries) => Ok(Value::Bool(entries.contains_key(&key_of(field)))),
        Value::Made(made) => Ok(Value::Bool(made.fields.contains_key(field))),
        Value::List(..) => Err(Fault::new("unsupported index type 'string' in list")),
        _ => Ok(Value::Bool(false)),
    }
}

/// `a[?b]`: what is there, or nothing.
fn maybe(operand: &Value, key: &Value) -> Value {
    let operand = match operand {
        Value::Optional(None) => return Value::Optional(None),
        Value::Optional(Some(inner)) => &**inner,
        other => other,
    };
    let found = match (operand, key) {
        (Value::Map(entries), key) => key.key().and_then(|key| entries.get(&key)),
        (Value::Made(made), Value::String(field)) => made.fields.get(&**field),
        (Value::List(items, _), Value::Int(index)) => usize::try_from(*index)
            .ok()
            .and_then(|index| items.get(index)),
        _ => None,
    };
    match found {
        Some(Value::Optional(inner)) => Value::Optional(inner.clone()),
        found => Value::Optional(found.map(|value| Arc::new(value.clone()))),
    }
}
