use std::collections::BTreeMap;
use std::sync::Arc;

use super::evaluate::{Evaluated, Evaluation};
use super::expr::{Expr, Loop, LoopKind};
use super::problem::Fault;
use super::value::Value;

/// What is walked over: an index or key, and a value.
type Steps = Vec<(Value, Value)>;

impl Evaluation<'_> {
    pub(super) fn looped(&mut self, of: &Loop) -> Evaluated {
        let range = self.expr(&of.range)?;
        if of.kind.is_optional() {
            return self.over_optional(of, range);
        }
        let steps = steps(&range)?;
        let is_map = matches!(range, Value::Map(_));
        match of.kind {
            LoopKind::All => self.quantified(of, steps, (false, is_map)),
            LoopKind::Exists => self.quantified(of, steps, (true, is_map)),
            LoopKind::ExistsOne => {
                let kept = self.kept(of, steps, is_map)?;
                Ok(Value::Bool(kept.len() == 1))
            }
            LoopKind::Filter => {
                let kept = self.kept(of, steps, is_map)?.into_iter();
                let items = kept.map(|(key, item)| if is_map { key } else { item });
                Ok(Value::list(items.collect()))
            }
            LoopKind::Map | LoopKind::TransformList => {
                let made = self.transformed(of, steps, is_map)?;
                Ok(Value::list(
                    made.into_iter().map(|(_, value)| value).collect(),
                ))
            }
            LoopKind::TransformMap => {
                let mut entries = BTreeMap::new();
                for (key, value) in self.transformed(of, steps, is_map)? {
                    entries.insert(key.key().ok_or_else(Fault::no_overload)?, value);
                }
                Ok(Value::map(entries))
            }
            LoopKind::TransformMapEntry => merged(self.transformed(of, steps, is_map)?),
            LoopKind::SortBy => self.sorted(of, steps, is_map),
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
        let made = self.with(of, &step, false, &of.body)?;
        match (of.kind, made) {
            (LoopKind::OptFlatMap, Value::Optional(made)) => Ok(Value::Optional(made)),
            (LoopKind::OptFlatMap, _) => Err(Fault::no_overload()),
            (_, made) => Ok(Value::some(made)),
        }
    }

    /// The body for one step, with its names.
    fn with(&mut self, of: &Loop, step: &(Value, Value), is_map: bool, body: &Expr) -> Evaluated {
        self.budget.step()?;
        let before = self.locals.len();
        match (of.names.as_slice(), is_map) {
            ([first, second], _) => {
                self.locals.push((first.clone(), step.0.clone()));
                self.locals.push((second.clone(), step.1.clone()));
            }
            ([name, ..], true) => self.locals.push((name.clone(), step.0.clone())),
            ([name, ..], false) => self.locals.push((name.clone(), step.1.clone())),
            ([], _) => {}
        }
        let value = self.expr(body);
        self.locals.truncate(before);
        value
    }

    fn holds(
        &mut self,
        of: &Loop,
        step: &(Value, Value),
        is_map: bool,
        body: &Expr,
    ) -> Result<bool, Fault> {
        match self.with(of, step, is_map, body)? {
            Value::Bool(value) => Ok(value),
            _ => Err(Fault::no_overload()),
        }
    }

    /// The steps that the body holds for.
    fn kept(&mut self, of: &Loop, steps: Steps, is_map: bool) -> Result<Steps, Fault> {
        let mut kept = Vec::new();
        for step in steps {
            if self.holds(of, &step, is_map, &of.body)? {
                kept.push(step);
            }
        }
        Ok(kept)
    }

    /// `all` and `exists`: a step that decides makes up for one that fails.
    fn quantified(
        &mut self,
        of: &Loop,
        steps: Steps,
        (decides, is_map): (bool, bool),
    ) -> Evaluated {
        let mut failed = None;
        for step in steps {
            match self.holds(of, &step, is_map, &of.body) {
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
    fn transformed(&mut self, of: &Loop, steps: Steps, is_map: bool) -> Result<Steps, Fault> {
        let mut made = Vec::new();
        for step in steps {
            if let Some(filter) = &of.filter
                && !self.holds(of, &step, is_map, filter)?
            {
                continue;
            }
            let value = self.with(of, &step, is_map, &of.body)?;
            made.push((step.0, value));
        }
        Ok(made)
    }

    fn sorted(&mut self, of: &Loop, steps: Steps, is_map: bool) -> Evaluated {
        let mut keyed = Vec::with_capacity(steps.len());
        for step in steps {
            let by = self.with(of, &step, is_map, &of.body)?;
            keyed.push((by, step.1));
        }
        let first = keyed.first().map(|(by, _)| by.clone());
        let has_order = |(by, _): &(Value, Value)| {
            first
                .as_ref()
                .is_some_and(|first| first.order(by).is_some())
        };
        if !keyed.iter().all(has_order) {
            return Err(Fault::no_overload());
        }
        keyed.sort_by(|(one, _), (two, _)| one.order(two).unwrap_or(std::cmp::Ordering::Equal));
        Ok(Value::list(
            keyed.into_iter().map(|(_, item)| item).collect(),
        ))
    }
}

/// One map of the entries of many.
fn merged(made: Steps) -> Evaluated {
    let mut entries = BTreeMap::new();
    for (_, value) in made {
        let Value::Map(made) = value else {
            return Err(Fault::no_overload());
        };
        for (key, value) in made.iter() {
            if entries.insert(key.clone(), value.clone()).is_some() {
                return Err(Fault::new("insert failed: key already exists"));
            }
        }
    }
    Ok(Value::map(entries))
}

fn steps(range: &Value) -> Result<Steps, Fault> {
    match range {
        Value::List(items, _) => Ok(indexed(items)),
        Value::Map(entries) => Ok(entries
            .iter()
            .map(|(key, value)| (Value::from(key), value.clone()))
            .collect()),
        _ => Err(Fault::no_overload()),
    }
}

fn indexed(items: &Arc<[Value]>) -> Steps {
    let items = items.iter().enumerate();
    items
        .map(|(index, item)| (Value::count(index), item.clone()))
        .collect()
}
