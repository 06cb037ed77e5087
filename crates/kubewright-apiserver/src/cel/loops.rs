use std::collections::BTreeMap;
use std::sync::Arc;

use super::budget::Budget;
use super::compare::{sort, text_length};
use super::evaluate::{Evaluated, Evaluation};
use super::expr::{Expr, Loop, LoopKind};
use super::problem::Fault;
use super::value::{Key, Value};

/// An index or key, and a value.
type Step = (Value, Value);

impl Evaluation<'_> {
    pub(super) fn looped(&mut self, of: &Loop) -> Evaluated {
        let range = self.expr(&of.range)?;
        if of.kind.is_optional() {
            return self.over_optional(of, range);
        }
        let range = Range::of(range)?;
        let is_map = matches!(range, Range::Map(_));
        match of.kind {
            LoopKind::All => self.quantified(of, &range, false),
            LoopKind::Exists => self.quantified(of, &range, true),
            LoopKind::ExistsOne => {
                let kept = self.kept(of, &range)?;
                Ok(Value::Bool(kept.len() == 1))
            }
            LoopKind::Filter => {
                let kept = self.kept(of, &range)?.into_iter();
                let items = kept.map(|(key, item)| if is_map { key } else { item });
                Ok(Value::list(items.collect()))
            }
            LoopKind::Map | LoopKind::TransformList => {
                let made = self.transformed(of, &range)?;
                Ok(Value::list(
                    made.into_iter().map(|(_, value)| value).collect(),
                ))
            }
            LoopKind::TransformMap => {
                let mut entries = BTreeMap::new();
                for (key, value) in self.transformed(of, &range)? {
                    entries.insert(key.key().ok_or_else(Fault::no_overload)?, value);
                }
                Ok(Value::map(entries))
            }
            LoopKind::TransformMapEntry => {
                let made = self.transformed(of, &range)?;
                merged(made, self.budget)
            }
            LoopKind::SortBy => self.sorted(of, &range),
            LoopKind::OptMap | LoopKind::OptFlatMap => Err(Fault::no_overload()),
        }
    }

    fn over_optional(&mut self, of: &Loop, range: Value) -> Evaluated {
        let Value::Optional(value) = range else {
            return Err(Fault::no_overload());
        };
        let Some(value) = value else {
            return Ok(Value::Optional(None));
        };
        let step = (Value::Null, (*value).clone());
        let made = self.with(of, &step, Names::OfValues, &of.body)?;
        match (of.kind, made) {
            (LoopKind::OptFlatMap, Value::Optional(made)) => Ok(Value::Optional(made)),
            (LoopKind::OptFlatMap, _) => Err(Fault::no_overload()),
            (_, made) => Ok(Value::some(made)),
        }
    }

    /// The body for one step, with its names.
    fn with(&mut self, of: &Loop, step: &Step, names: Names, body: &Expr) -> Evaluated {
        self.budget.step()?;
        let before = self.locals.len();
        match (of.names.as_slice(), names) {
            ([first, second], _) => {
                self.locals.push((first.clone(), step.0.clone()));
                self.locals.push((second.clone(), step.1.clone()));
            }
            ([name, ..], Names::OfKeys) => self.locals.push((name.clone(), step.0.clone())),
            ([name, ..], Names::OfValues) => self.locals.push((name.clone(), step.1.clone())),
            ([], _) => {}
        }
        let value = self.expr(body);
        self.locals.truncate(before);
        value
    }

    fn holds(&mut self, of: &Loop, step: &Step, names: Names, body: &Expr) -> Result<bool, Fault> {
        match self.with(of, step, names, body)? {
            Value::Bool(value) => Ok(value),
            _ => Err(Fault::no_overload()),
        }
    }

    /// The steps that the body holds for.
    fn kept(&mut self, of: &Loop, range: &Range) -> Result<Vec<Step>, Fault> {
        let mut kept = Vec::new();
        for step in range.steps() {
            if self.holds(of, &step, range.names(), &of.body)? {
                kept.push(step);
            }
        }
        Ok(kept)
    }

    /// `all` and `exists`: a step that decides makes up for one that fails.
    fn quantified(&mut self, of: &Loop, range: &Range, decides: bool) -> Evaluated {
        let mut failed = None;
        for step in range.steps() {
            match self.holds(of, &step, range.names(), &of.body) {
                Ok(value) if value == decides => return Ok(Value::Bool(decides)),
                Ok(_) => {}
                Err(Fault::Spent) => return Err(Fault::Spent),
                Err(fault) => failed = failed.or(Some(fault)),
            }
        }
        match failed {
            Some(fault) => Err(fault),
            None => Ok(Value::Bool(!decides)),
        }
    }

    /// The keys and new values of the steps that the filter lets through.
    fn transformed(&mut self, of: &Loop, range: &Range) -> Result<Vec<Step>, Fault> {
        let mut made = Vec::new();
        for step in range.steps() {
            if let Some(filter) = &of.filter
                && !self.holds(of, &step, range.names(), filter)?
            {
                continue;
            }
            let value = self.with(of, &step, range.names(), &of.body)?;
            made.push((step.0, value));
        }
        Ok(made)
    }

    fn sorted(&mut self, of: &Loop, range: &Range) -> Evaluated {
        let mut keyed = Vec::new();
        for step in range.steps() {
            let by = self.with(of, &step, range.names(), &of.body)?;
            keyed.push((by, step.1));
        }
        let first = keyed.first().map(|(by, _)| by.clone());
        let has_order = |(by, _): &Step| {
            first
                .as_ref()
                .is_some_and(|first| first.order(by).is_some())
        };
        self.budget
            .bytes(keyed.iter().map(|(by, _)| text_length(by)).sum())?;
        if !keyed.iter().all(has_order) {
            return Err(Fault::no_overload());
        }
        sort(&mut keyed, |(by, _)| by, self.budget)?;
        Ok(Value::list(
            keyed.into_iter().map(|(_, item)| item).collect(),
        ))
    }
}

/// One map of the entries of many.
fn merged(made: Vec<Step>, budget: &mut Budget) -> Evaluated {
    let mut entries = BTreeMap::new();
    for (_, value) in made {
        let Value::Map(made) = value else {
            return Err(Fault::no_overload());
        };
        budget.items(made.len())?;
        for (key, value) in made.iter() {
            if entries.insert(key.clone(), value.clone()).is_some() {
                return Err(Fault::new("insert failed: key already exists"));
            }
        }
    }
    Ok(Value::map(entries))
}

/// What a loop walks over, step by step: a loop that ends early has not touched the rest.
enum Range {
    List(Arc<[Value]>),
    Map(Arc<BTreeMap<Key, Value>>),
}

/// What a loop with one name gives it.
#[derive(Clone, Copy)]
enum Names {
    OfKeys,
    OfValues,
}

impl Range {
    fn of(range: Value) -> Result<Self, Fault> {
        match range {
            Value::List(items, _) => Ok(Self::List(items)),
            Value::Map(entries) => Ok(Self::Map(entries)),
            _ => Err(Fault::no_overload()),
        }
    }

    fn names(&self) -> Names {
        match self {
            Self::List(_) => Names::OfValues,
            Self::Map(_) => Names::OfKeys,
        }
    }

    fn steps(&self) -> Box<dyn Iterator<Item = Step> + '_> {
        match self {
            Self::List(items) => {
                let items = items.iter().enumerate();
                Box::new(items.map(|(index, item)| (Value::count(index), item.clone())))
            }
            Self::Map(entries) => Box::new(
                entries
                    .iter()
                    .map(|(key, value)| (Value::from(key), value.clone())),
            ),
        }
    }
}
