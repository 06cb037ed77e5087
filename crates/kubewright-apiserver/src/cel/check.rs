use std::collections::BTreeSet;

use super::environment::Environment;
use super::expr::{Call, Entry, Expr, Item, Logic, Loop, LoopKind, Make, Node};
use super::forms::{literal, named_key, named_type, opened, result, shown};
use super::functions::{is_pattern, parse_duration, parse_timestamp};
use super::problem::{Problem, Refusal, print};
use super::signatures::{lacking, signatures};
use super::types::Type;
use super::value::Value;

/// What is known about an expression that has no error.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    pub(super) gives: Type,
    /// The variables that it uses.
    pub(super) uses: BTreeSet<String>,
    /// The fields of the composed variable that it uses.
    pub(super) composed: BTreeSet<String>,
}

/// Finds the type of an expression, and what is wrong with it (cel-go/checker).
pub(super) fn check(
    source: &str,
    expr: &mut Expr,
    environment: &Environment,
) -> Result<Checked, Refusal> {
    let mut checker = Checker {
        environment,
        locals: Vec::new(),
        problems: Vec::new(),
        lacking: None,
        uses: BTreeSet::new(),
        composed: BTreeSet::new(),
        formats: 0,
    };
    let gives = checker.expr(expr);
    if let Some(what) = checker.lacking {
        return Err(Refusal::Lacking(what));
    }
    match checker.problems.is_empty() {
        true => Ok(Checked {
            gives,
            uses: checker.uses,
            composed: checker.composed,
        }),
        false => Err(Refusal::Wrong(print(source, checker.problems))),
    }
}

struct Checker<'a> {
    environment: &'a Environment,
    locals: Vec<(String, Type)>,
    problems: Vec<Problem>,
    lacking: Option<String>,
    uses: BTreeSet<String>,
    composed: BTreeSet<String>,
    /// How many calls of `format` stand around what is being checked: the items of lists and maps
    /// there may be of several types (`ValidateHomogeneousAggregateLiterals` of cel-go).
    formats: usize,
}

impl Checker<'_> {
    fn wrong(&mut self, at: usize, message: String) -> Type {
        self.problems.push(Problem { at, message });
        Type::Unknown
    }

    /// The type of a node, which is noted in it.
    fn expr(&mut self, expr: &mut Expr) -> Type {
        let of = self.node(expr);
        expr.of = of.clone();
        of
    }

    fn node(&mut self, expr: &mut Expr) -> Type {
        let at = expr.at;
        match &mut expr.node {
            Node::Literal(value) => literal(value),
            Node::Ident(name) => {
                let name = name.clone();
                self.ident(&name, at)
            }
            Node::Select(operand, field) => {
                let of = self.operand(operand, Some(field.as_str()));
                self.select(of, field, at)
            }
            Node::MaybeSelect(operand, key) => {
                let of = self.operand(operand, named_key(key));
                self.maybe_select(of, key, at)
            }
            Node::Has(operand, field) => {
                let of = self.operand(operand, Some(field.as_str()));
                self.select(of, field, operand.at.max(at));
                Type::Bool
            }
            Node::Call(call) => self.call(call, at),
            Node::Logic(logic) => self.logic(logic),
            Node::Choice(parts) => {
                let types: Vec<Type> = parts.iter_mut().map(|part| self.expr(part)).collect();
                self.resolve("_?_:_", &types, false, at)
            }
            Node::List(items) => self.list(items),
            Node::Map(entries) => self.map(entries),
            Node::Loop(of) => self.looped(of),
            Node::Make(make) => self.make(make, at),
        }
    }

    /// What a field is taken of. Here the composed variable may stand, which is no value itself.
    fn operand(&mut self, operand: &mut Expr, field: Option<&str>) -> Type {
        let composed = match &operand.node {
            Node::Ident(name) if self.is_composed(name) => self.environment.find(name).cloned(),
            _ => None,
        };
        let Some(of) = composed else {
            return self.expr(operand);
        };
        self.composed.extend(field.map(str::to_owned));
        // The type grows with each variable, and is not kept for that.
        operand.of = Type::Dyn;
        of
    }

    fn is_composed(&self, name: &str) -> bool {
        let is_local = self.locals.iter().any(|(local, _)| local == name);
        !is_local && self.environment.is_composed(name)
    }

    fn make(&mut self, make: &mut Make, at: usize) -> Type {
        let Some(of) = self.environment.made(&make.name) else {
            let name = &make.name;
            let message = format!("undeclared reference to '{name}' (in container '')");
            return self.wrong(at, message);
        };
        for member in &mut make.members {
            let value_at = member.value.at;
            let mut found = self.expr(&mut member.value);
            if member.is_optional {
                found = self.unwrapped(found, value_at);
            }
            let wanted = self.select(of.clone(), &member.name, member.at);
            if !wanted.fits(&found) {
                let message = format!(
                    "expected type of field '{}' is '{wanted}' but provided type is '{found}'",
                    member.name
                );
                self.wrong(member.at, message);
            }
        }
        of
    }

    fn ident(&mut self, name: &str, at: usize) -> Type {
        let local = self.locals.iter().rev().find(|(local, _)| local == name);
        if let Some((_, of)) = local {
            return of.clone();
        }
        if self.environment.is_composed(name) {
            let whole = || format!("the variable {name} as a whole");
            self.lacking.get_or_insert_with(whole);
            return Type::Unknown;
        }
        if let Some(of) = self.environment.find(name) {
            self.uses.insert(name.to_owned());
            return of.clone();
        }
        if self.environment.is_lacking(name) {
            self.lacking
                .get_or_insert_with(|| format!("the variable {name}"));
            return Type::Unknown;
        }
        match named_type(name) {
            Some(of) => Type::of_type(of),
            None => {
                let message = format!("undeclared reference to '{name}' (in container '')");
                self.wrong(at, message)
            }
        }
    }

    fn select(&mut self, of: Type, field: &str, at: usize) -> Type {
        match of {
            Type::Dyn | Type::Unknown => of,
            Type::Object(of) => match of.field(field) {
                Some(found) => found.clone(),
                None => self.wrong(at, format!("undefined field '{field}'")),
            },
            Type::Map(_, value) => (*value).clone(),
            Type::Made(_) => Type::Dyn,
            Type::Optional(of) => Type::optional(self.select((*of).clone(), field, at)),
            other => {
                let message = format!("type '{other}' does not support field selection");
                self.wrong(at, message)
            }
        }
    }

    /// `a.?b` by a name, `a[?b]` by any key.
    fn maybe_select(&mut self, of: Type, key: &mut Expr, at: usize) -> Type {
        let inner = match &of {
            Type::Optional(inner) => (**inner).clone(),
            other => other.clone(),
        };
        if let (
            Node::Literal(Value::String(field)),
            Type::Object(_) | Type::Made(_) | Type::Map(..),
        ) = (&key.node, &inner)
        {
            return Type::optional(self.select(inner, &field.clone(), at));
        }
        let key = self.expr(key);
        Type::optional(self.resolve("_[_]", &[inner, key], false, at))
    }

    fn call(&mut self, call: &mut Call, at: usize) -> Type {
        // `sets.contains(..)` is a function of that name, unless `sets` is a variable.
        if let Some(target) = &call.target
            && let Node::Ident(space) = &target.node
            && !self.is_variable(space)
            && self.has_function(&format!("{space}.{}", call.name))
        {
            call.name = format!("{space}.{}", call.name);
            call.target = None;
        }
        let is_member = call.target.is_some();
        let formats = usize::from(call.name == "format");
        self.formats += formats;
        let target = call.target.iter_mut().map(|target| &mut **target);
        let types: Vec<Type> = target
            .chain(&mut call.args)
            .map(|arg| self.expr(arg))
            .collect();
        self.formats -= formats;
        let arguments = call.args.len();
        if let Some(what) = lacking(&call.name, arguments) {
            self.lacking.get_or_insert_with(|| what.to_owned());
            return Type::Unknown;
        }
        self.literal_argument(call);
        self.resolve(&call.name, &types, is_member, at)
    }

    /// Texts that stand in the expression itself are read at once.
    fn literal_argument(&mut self, call: &Call) {
        let Some(argument) = call.args.last() else {
            return;
        };
        let Node::Literal(Value::String(text)) = &argument.node else {
            return;
        };
        let reads = match call.name.as_str() {
            "duration" => parse_duration(text).is_some(),
            "timestamp" => parse_timestamp(text).is_some(),
            "matches" => is_pattern(text),
            _ => true,
        };
        if !reads {
            self.wrong(argument.at, format!("invalid {} argument", call.name));
        }
    }

    fn has_function(&self, name: &str) -> bool {
        signatures(name).is_some() && self.environment.has_function(name)
    }

    fn is_variable(&self, name: &str) -> bool {
        self.locals.iter().any(|(local, _)| local == name) || self.environment.find(name).is_some()
    }

    /// The result of the forms of a function that fit the arguments.
    fn resolve(&mut self, name: &str, types: &[Type], is_member: bool, at: usize) -> Type {
        let Some(forms) = signatures(name) else {
            let message = format!("undeclared reference to '{name}' (in container '')");
            return self.wrong(at, message);
        };
        let forms = forms.iter().filter(|form| form.is_member == is_member);
        let mut results: Vec<Type> = forms.filter_map(|form| result(form, types)).collect();
        let Some(first) = results.pop() else {
            if types.contains(&Type::Unknown) {
                return Type::Unknown;
            }
            let message = format!(
                "found no matching overload for '{name}' applied to '{}'",
                shown(types, is_member)
            );
            return self.wrong(at, message);
        };
        match results.iter().all(|other| *other == first) {
            true => first,
            false => Type::Dyn,
        }
    }

    fn logic(&mut self, logic: &mut Logic) -> Type {
        let name = logic.name();
        let types: Vec<Type> = logic.args.iter_mut().map(|arg| self.expr(arg)).collect();
        let mut left = types.first().cloned().unwrap_or(Type::Bool);
        for (right, at) in types.iter().skip(1).zip(&logic.operators) {
            left = self.resolve(name, &[left, right.clone()], false, *at);
        }
        left
    }

    fn list(&mut self, items: &mut [Item]) -> Type {
        let mut of = Type::Unknown;
        for item in items {
            let at = item.value.at;
            let mut found = self.expr(&mut item.value);
            if item.is_optional {
                found = self.unwrapped(found, at);
            }
            of = self.joined(of, found, at);
        }
        Type::list(opened(of))
    }

    fn map(&mut self, entries: &mut [Entry]) -> Type {
        let (mut key, mut value) = (Type::Unknown, Type::Unknown);
        for entry in entries {
            let (key_at, value_at) = (entry.key.at, entry.value.at);
            let found = self.expr(&mut entry.key);
            key = self.joined(key, found, key_at);
            let mut found = self.expr(&mut entry.value);
            if entry.is_optional {
                found = self.unwrapped(found, value_at);
            }
            value = self.joined(value, found, value_at);
        }
        Type::map(opened(key), opened(value))
    }

    fn unwrapped(&mut self, of: Type, at: usize) -> Type {
        match of {
            Type::Optional(of) => (*of).clone(),
            open if open.is_open() => open,
            other => {
                let message = format!("expected type 'optional_type(dyn)' but found '{other}'");
                self.wrong(at, message)
            }
        }
    }

    /// The items of a list are all of one type.
    fn joined(&mut self, all: Type, next: Type, at: usize) -> Type {
        if all.fits(&next) {
            return all.join(next);
        }
        if self.formats > 0 {
            return Type::Dyn;
        }
        self.wrong(at, format!("expected type '{all}' but found '{next}'"))
    }

    fn looped(&mut self, of: &mut Loop) -> Type {
        let at = of.range.at;
        let range = self.expr(&mut of.range);
        let names = of.names.len();
        let types = match (&range, of.kind.is_optional()) {
            (Type::List(of, _), false) if names == 2 => vec![Type::Int, (**of).clone()],
            (Type::Optional(of), true) | (Type::List(of, _), false) => vec![(**of).clone()],
            (Type::Map(key, value), false) if names == 2 => {
                vec![(**key).clone(), (**value).clone()]
            }
            (Type::Map(key, _), false) => vec![(**key).clone()],
            (open, _) if open.is_open() => vec![Type::Dyn; names],
            (_, true) => {
                let name = if of.kind == LoopKind::OptMap {
                    "optMap"
                } else {
                    "optFlatMap"
                };
                return self.wrong(
                    at,
                    format!("found no matching overload for '{name}' applied to '{range}'"),
                );
            }
            (other, false) => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be \
                     list, map, or dynamic)"
                );
                vec![self.wrong(at, message); names]
            }
        };
        self.locals.extend(of.names.iter().cloned().zip(types));
        if let Some(filter) = &mut of.filter {
            self.condition(filter);
        }
        let body = self.body(of);
        self.locals.truncate(self.locals.len() - names);
        match of.kind {
            LoopKind::Filter => match range {
                Type::Map(key, _) => Type::list((*key).clone()),
                other => other,
            },
            LoopKind::SortBy => range,
            LoopKind::TransformMap => {
                let key = match range {
                    Type::Map(key, _) => (*key).clone(),
                    Type::List(..) => Type::Int,
                    _ => Type::Dyn,
                };
                Type::map(key, body)
            }
            _ => body,
        }
    }

    fn body(&mut self, of: &mut Loop) -> Type {
        match of.kind {
            LoopKind::All | LoopKind::Exists | LoopKind::ExistsOne | LoopKind::Filter => {
                self.condition(&mut of.body);
                Type::Bool
            }
            LoopKind::Map | LoopKind::TransformList => Type::list(self.expr(&mut of.body)),
            LoopKind::OptMap => Type::optional(self.expr(&mut of.body)),
            LoopKind::TransformMap
            | LoopKind::TransformMapEntry
            | LoopKind::SortBy
            | LoopKind::OptFlatMap => self.expr(&mut of.body),
        }
    }

    fn condition(&mut self, expr: &mut Expr) {
        let at = expr.at;
        let found = self.expr(expr);
        if !found.fits(&Type::Bool) {
            self.wrong(at, format!("expected type 'bool' but found '{found}'"));
        }
    }
}
