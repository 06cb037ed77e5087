use kubewright_wire::status::{Cause, CauseKind};
use serde_json::Value;

use super::field_path::field_path;
pub(super) use crate::cel::SPENT;
use crate::cel::{
    Budget, Declared, Environment, Fault, Program, Refusal, Type, Value as CelValue, Variables,
};

/// The longest message that an expression may make.
const LONGEST_MESSAGE: usize = 5 * 1024;

/// How Go calls the place of the object itself.
const ROOT: &str = "<nil>";

/// One entry of `x-kubernetes-validations`.
#[derive(Debug)]
pub(super) struct Rule {
    source: Value,
    program: Program,
    message: Option<Program>,
    /// Where the fault is told to be, below the value that has the rule.
    place: String,
}

/// Why a rule cannot be used, and which of its parts is at fault.
#[derive(Debug)]
pub(super) struct WrongRule {
    pub(super) part: &'static str,
    pub(super) why: Refusal,
}

/// What a rule looks at.
pub(super) struct RuleInput<'a> {
    pub(super) value: &'a Value,
    pub(super) old: Option<&'a Value>,
    pub(super) of: &'a Type,
    pub(super) path: &'a str,
    /// The type that the schema declares for the value.
    pub(super) kind: &'a str,
}

/// What became of a rule.
pub(super) enum Verdict {
    Holds,
    /// A fault, which an unchanged value may keep if the rule does not look at the old one.
    Broken(Cause),
    /// It could not be decided.
    Failed(Cause),
    /// Nothing may be spent any more.
    Spent(Cause),
}

impl Rule {
    /// Reads a rule about values of a type.
    pub(super) fn compile(source: &Value, of: &Type, schema: &Value) -> Result<Self, WrongRule> {
        let is_optional = source["optionalOldSelf"] == true;
        let old = match is_optional {
            true => Type::Optional(of.clone().into()),
            false => of.clone(),
        };
        let environment = Environment::default()
            .variable("self", of.clone())
            .variable("oldSelf", old);
        let wrong = |part: &'static str| move |why: Refusal| WrongRule { part, why };
        let program =
            Program::compile(text(&source["rule"]), &environment).map_err(|why| WrongRule {
                part: "rule",
                why: why.after("compilation failed: "),
            })?;
        if *program.gives() != Type::Bool {
            let why = "cel expression must evaluate to a bool".to_owned();
            return Err(wrong("rule")(Refusal::Wrong(why)));
        }
        let message = match text(&source["messageExpression"]) {
            "" => None,
            expression => {
                let message = Program::compile(expression, &environment);
                let prefix = "messageExpression compilation failed: ";
                let message =
                    message.map_err(|why| wrong("messageExpression")(why.after(prefix)))?;
                if *message.gives() != Type::String {
                    let why = "messageExpression must evaluate to a string".to_owned();
                    return Err(wrong("messageExpression")(Refusal::Wrong(why)));
                }
                Some(message)
            }
        };
        let place = field_path(text(&source["fieldPath"]), schema, true);
        Ok(Self {
            source: source.clone(),
            program,
            message,
            place: place.map(|(path, _)| path).unwrap_or_default(),
        })
    }

    /// Whether it compares with what was there before.
    pub(super) fn uses_old(&self) -> bool {
        self.program.uses("oldSelf")
    }

    /// The most that the rule can cost for one value, by the sizes that its schema allows.
    pub(super) fn cost(&self, sizes: &Declared) -> u64 {
        self.program.cost(sizes)
    }

    /// The same for the message, if an expression makes it.
    pub(super) fn message_cost(&self, sizes: &Declared) -> Option<u64> {
        self.message.as_ref().map(|message| message.cost(sizes))
    }

    /// Whether a value keeps to the rule.
    pub(super) fn check(&self, input: &RuleInput<'_>, budget: &mut Budget) -> Verdict {
        let is_optional = self.source["optionalOldSelf"] == true;
        if self.uses_old() && input.old.is_none() && !is_optional {
            return Verdict::Holds;
        }
        let told = |detail: &str| {
            let path = if input.path.is_empty() {
                ROOT
            } else {
                input.path
            };
            Cause::invalid(path, &Value::String(input.kind.to_owned()), detail)
        };
        let variables = self.variables(input, is_optional);
        let outcome = self.program.evaluate(&variables, budget);
        if budget.is_spent() {
            return Verdict::Spent(told(SPENT));
        }
        match outcome {
            Ok(CelValue::Bool(true)) => Verdict::Holds,
            Ok(_) => self.broken(input, budget),
            Err(Fault::Spent) => {
                let detail = format!(
                    "'{}': no further validation rules will be run due to call cost exceeds limit \
                     for rule: {}",
                    Fault::Spent,
                    self.name()
                );
                Verdict::Spent(told(&detail))
            }
            Err(Fault::Failed(why)) if why.starts_with("no such overload") => {
                let detail = format!(
                    "'{why}': call arguments did not match a supported operator, function or \
                     macro signature for rule: {}",
                    self.name()
                );
                Verdict::Failed(told(&detail))
            }
            Err(Fault::Failed(why)) => {
                Verdict::Failed(told(&format!("{why} evaluating rule: {}", self.name())))
            }
        }
    }

    fn variables(&self, input: &RuleInput<'_>, is_optional: bool) -> Variables {
        let value = |json: &Value| CelValue::from_json(json, input.of);
        let mut variables = Variables::from([("self", value(input.value))]);
        let old = input.old.map(value);
        match (old, is_optional) {
            (old, true) => {
                variables.insert("oldSelf", CelValue::Optional(old.map(Into::into)));
            }
            (Some(old), false) => {
                variables.insert("oldSelf", old);
            }
            (None, false) => {}
        }
        variables
    }

    fn broken(&self, input: &RuleInput<'_>, budget: &mut Budget) -> Verdict {
        let path = format!("{}{}", input.path, self.place);
        let path = match input.path.is_empty() {
            true => path.strip_prefix('.').unwrap_or(&path),
            false => &path,
        };
        let path = if path.is_empty() { ROOT } else { path };
        let detail = self.made_message(input, budget);
        let detail = detail.unwrap_or_else(|| match text(&self.source["message"]).trim() {
            "" => format!("failed rule: {}", text(&self.source["rule"]).trim()),
            message => message.to_owned(),
        });
        let shown = Some(input.value).filter(|_| !matches!(input.kind, "object" | "array"));
        Verdict::Broken(match self.source["reason"].as_str() {
            Some("FieldValueForbidden") => Cause::forbidden(path, &detail),
            Some("FieldValueRequired") => Cause::required(path, &detail),
            Some("FieldValueDuplicate") => {
                Cause::new(CauseKind::FieldValueDuplicate, path, shown, "")
            }
            _ => Cause::new(CauseKind::FieldValueInvalid, path, shown, &detail),
        })
    }

    /// What the message's expression comes to, if that can be shown.
    fn made_message(&self, input: &RuleInput<'_>, budget: &mut Budget) -> Option<String> {
        let message = self.message.as_ref()?;
        let made = message.evaluate(&self.variables(input, false), budget);
        let CelValue::String(made) = made.ok()? else {
            return None;
        };
        let made = made.trim();
        let is_shown = !made.is_empty() && made.len() <= LONGEST_MESSAGE && !made.contains('\n');
        is_shown.then(|| made.to_owned())
    }

    /// How messages about the rule call it.
    fn name(&self) -> &str {
        match text(&self.source["message"]).trim() {
            "" => text(&self.source["rule"]).trim(),
            message => message,
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
