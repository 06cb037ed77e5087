//! The type checker (cel-go/checker).

use std::collections::BTreeSet;

use super::environment::Environment;
use super::overloads::{Resolved, Unresolved, resolve, shown_arguments, unsupported};
use super::typed_expr::{ComposedAccess, TypedCall, TypedExpr, TypedNode};
use crate::error::CompileError;
use crate::functions::{CallStyle, is_regex};
use crate::syntax::{Call, Expr, Logic, Node, SourceError, render};
use crate::values::{Type, Value, parse_duration, parse_timestamp};

/// A valid expression.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub(crate) expr: TypedExpr,
    /// The variables that it uses.
    pub(crate) variables: BTreeSet<String>,
    /// The fields of the composed variable that it uses.
    pub(crate) composed: BTreeSet<String>,
}

/// Checks an expression. `source` is its text, for errors.
pub(crate) fn check(
    source: &str,
    expr: &Expr,
    environment: &Environment,
) -> Result<Checked, CompileError> {
    let mut checker = Checker {
        environment,
        locals: Vec::new(),
        errors: Vec::new(),
        unsupported: None,
        variables: BTreeSet::new(),
        composed: BTreeSet::new(),
        format_depth: 0,
    };
    let expr = checker.expr(expr);
    if let Some(what) = checker.unsupported {
        return Err(CompileError::Unsupported(what));
    }
    if !checker.errors.is_empty() {
        return Err(CompileError::Invalid(render(source, checker.errors)));
    }
    Ok(Checked {
        expr,
        variables: checker.variables,
        composed: checker.composed,
    })
}

pub(super) struct Checker<'a> {
    pub(super) environment: &'a Environment,
    /// The variables of the comprehensions around the current node.
    pub(super) locals: Vec<(String, Type)>,
    errors: Vec<SourceError>,
    /// The first part that is not supported.
    unsupported: Option<String>,
    variables: BTreeSet<String>,
    composed: BTreeSet<String>,
    /// How many calls of `format` contain the current node. The items of lists and maps in their
    /// arguments can be of several types (`ValidateHomogeneousAggregateLiterals` of cel-go).
    pub(super) format_depth: usize,
}

/// The operand of a selection.
enum Operand {
    /// The composed variable, by the type of its fields.
    Composed(Type),
    Expr(TypedExpr),
}

impl Checker<'_> {
    /// Records an error. Returns the type of the invalid expression.
    pub(super) fn error(&mut self, at: usize, message: String) -> Type {
        self.errors.push(SourceError { at, message });
        Type::Error
    }

    pub(super) fn undeclared(&mut self, name: &str, at: usize) -> Type {
        let message = format!("undeclared reference to '{name}' (in container '')");
        self.error(at, message)
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> TypedExpr {
        let at = expr.at;
        match &expr.node {
            Node::Literal(value) => {
                TypedExpr::new(TypedNode::Literal(value.clone()), literal_type(value))
            }
            Node::Ident(name) => self.ident(name, at),
            Node::Select(operand, field) => match self.operand(operand, Some(field)) {
                Operand::Composed(of) => {
                    let node = TypedNode::Composed(ComposedAccess::Select, field.clone());
                    TypedExpr::new(node, self.field_type(of, field, at))
                }
                Operand::Expr(operand) => {
                    let of = self.field_type(operand.of.clone(), field, at);
                    TypedExpr::new(TypedNode::Select(operand.into(), field.clone()), of)
                }
            },
            Node::OptionalSelect(operand, key) => self.optional_select(operand, key, at),
            Node::Has(operand, field) => {
                let field_at = operand.at.max(at);
                let (node, of) = match self.operand(operand, Some(field)) {
                    Operand::Composed(of) => {
                        (TypedNode::Composed(ComposedAccess::Has, field.clone()), of)
                    }
                    Operand::Expr(operand) => {
                        let of = operand.of.clone();
                        (TypedNode::Has(operand.into(), field.clone()), of)
                    }
                };
                self.field_type(of, field, field_at);
                TypedExpr::new(node, Type::Bool)
            }
            Node::Call(call) => self.call(call, at),
            Node::Logic(logic) => self.logic(logic),
            Node::Conditional(parts) => {
                let parts = parts.each_ref().map(|part| self.expr(part));
                let types = parts.each_ref().map(|part| part.of.clone());
                let of = self.operator_type("_?_:_", &types, at);
                TypedExpr::new(TypedNode::Conditional(Box::new(parts)), of)
            }
            Node::List(items) => self.list(items),
            Node::Map(entries) => self.map(entries),
            Node::Comprehension(of) => self.comprehension(of),
            Node::Object(object) => self.object(object, at),
        }
    }

    /// Checks the operand of a selection. The composed variable is valid only here.
    fn operand(&mut self, operand: &Expr, field: Option<&str>) -> Operand {
        if let Node::Ident(name) = &operand.node
            && self.local(name).is_none()
            && self.environment.is_composed(name)
            && let Some(of) = self.environment.find(name)
        {
            self.composed.extend(field.map(str::to_owned));
            return Operand::Composed(of.clone());
        }
        Operand::Expr(self.expr(operand))
    }

    /// The index of a variable of a comprehension. An inner one hides an outer one.
    fn local(&self, name: &str) -> Option<usize> {
        self.locals.iter().rposition(|(local, _)| local == name)
    }

    fn ident(&mut self, name: &str, at: usize) -> TypedExpr {
        if let Some(index) = self.local(name)
            && let Some((_, of)) = self.locals.get(index)
        {
            return TypedExpr::new(TypedNode::Local(index), of.clone());
        }
        if self.environment.is_composed(name) {
            self.unsupported
                .get_or_insert_with(|| format!("the variable {name} as a whole"));
            return TypedExpr::invalid();
        }
        if let Some(of) = self.environment.find(name) {
            self.variables.insert(name.to_owned());
            return TypedExpr::new(TypedNode::Variable(name.to_owned()), of.clone());
        }
        if self.environment.is_unsupported(name) {
            self.unsupported
                .get_or_insert_with(|| format!("the variable {name}"));
            return TypedExpr::invalid();
        }
        match type_name(name) {
            Some((name, of)) => TypedExpr::new(TypedNode::TypeName(name), Type::type_of(of)),
            None => {
                self.undeclared(name, at);
                TypedExpr::invalid()
            }
        }
    }

    /// The type of a field of an operand of that type.
    pub(super) fn field_type(&mut self, of: Type, field: &str, at: usize) -> Type {
        match of {
            Type::Dyn | Type::Error => of,
            Type::Object(of) => match of.field_type(field) {
                Some(found) => found.clone(),
                None => self.error(at, format!("undefined field '{field}'")),
            },
            Type::Map(_, value) => (*value).clone(),
            Type::ObjectLiteral(_) => Type::Dyn,
            Type::Optional(of) => Type::optional(self.field_type((*of).clone(), field, at)),
            other => {
                let message = format!("type '{other}' does not support field selection");
                self.error(at, message)
            }
        }
    }

    /// `a.?b` selects by a name, `a[?b]` by any key.
    fn optional_select(&mut self, operand: &Expr, key: &Expr, at: usize) -> TypedExpr {
        let name = match &key.node {
            Node::Literal(Value::String(name)) => Some(&**name),
            _ => None,
        };
        let operand = self.operand(operand, name);
        let of = match &operand {
            Operand::Composed(of) => of,
            Operand::Expr(operand) => &operand.of,
        };
        let inner = match of {
            Type::Optional(inner) => (**inner).clone(),
            other => other.clone(),
        };
        let (key, of) = match (name, &inner) {
            (Some(name), Type::Object(_) | Type::ObjectLiteral(_) | Type::Map(..)) => {
                let key = TypedNode::Literal(Value::string(name));
                let of = self.field_type(inner, name, at);
                (TypedExpr::new(key, Type::String), of)
            }
            _ => {
                let key = self.expr(key);
                let of = self.operator_type("_[_]", &[inner, key.of.clone()], at);
                (key, of)
            }
        };
        let node = match operand {
            Operand::Composed(_) => {
                let name = name.unwrap_or_default().to_owned();
                TypedNode::Composed(ComposedAccess::OptionalSelect, name)
            }
            Operand::Expr(operand) => TypedNode::OptionalSelect(operand.into(), key.into()),
        };
        TypedExpr::new(node, Type::optional(of))
    }

    fn call(&mut self, call: &Call, at: usize) -> TypedExpr {
        let namespaced = self.namespaced_function(call);
        let function = namespaced.as_deref().unwrap_or(&call.function);
        let target = call.target.as_deref().filter(|_| namespaced.is_none());
        let style = match target {
            Some(_) => CallStyle::Member,
            None => CallStyle::Global,
        };
        let is_format = usize::from(function == "format");
        self.format_depth += is_format;
        let args: Vec<TypedExpr> = target
            .into_iter()
            .chain(&call.args)
            .map(|arg| self.expr(arg))
            .collect();
        self.format_depth -= is_format;
        if let Some(what) = unsupported(function, style, args.len()) {
            self.unsupported.get_or_insert_with(|| what.to_owned());
            return TypedExpr::invalid();
        }
        self.check_literal_argument(function, &call.args);
        let types: Vec<Type> = args.iter().map(|arg| arg.of.clone()).collect();
        match self.resolve(function, style, &types, at) {
            Some(Resolved { resolution, of }) => {
                TypedExpr::new(TypedNode::Call(TypedCall { resolution, args }), of)
            }
            None => TypedExpr::invalid(),
        }
    }

    /// `sets.contains(..)` calls a function of that name, unless `sets` is a variable.
    fn namespaced_function(&self, call: &Call) -> Option<String> {
        let target = call.target.as_ref()?;
        let Node::Ident(namespace) = &target.node else {
            return None;
        };
        let is_variable =
            self.local(namespace).is_some() || self.environment.find(namespace).is_some();
        let function = format!("{namespace}.{}", call.function);
        (!is_variable && self.environment.has_function(&function)).then_some(function)
    }

    /// Durations, timestamps and regular expressions that are literals must be valid
    /// (`ValidateDurationLiterals`, `ValidateTimestampLiterals` and `ValidateRegexLiterals` of
    /// cel-go).
    fn check_literal_argument(&mut self, function: &str, args: &[Expr]) {
        let Some(argument) = args.last() else {
            return;
        };
        let Node::Literal(Value::String(text)) = &argument.node else {
            return;
        };
        let is_valid = match function {
            "duration" => parse_duration(text).is_some(),
            "timestamp" => parse_timestamp(text).is_some(),
            "matches" => is_regex(text),
            _ => true,
        };
        if !is_valid {
            self.error(argument.at, format!("invalid {function} argument"));
        }
    }

    /// The overloads of a call. Records an error and returns `None` if none matches.
    fn resolve(
        &mut self,
        function: &str,
        style: CallStyle,
        types: &[Type],
        at: usize,
    ) -> Option<Resolved> {
        match resolve(function, style, types) {
            Ok(resolved) => return Some(resolved),
            Err(Unresolved::UndeclaredFunction) => {
                self.undeclared(function, at);
            }
            // The argument of this type has an error already.
            Err(Unresolved::NoMatchingOverload) if types.contains(&Type::Error) => {}
            Err(Unresolved::NoMatchingOverload) => {
                let arguments = shown_arguments(style, types);
                let message =
                    format!("found no matching overload for '{function}' applied to '{arguments}'");
                self.error(at, message);
            }
        }
        None
    }

    /// The type of an operator that the evaluator runs itself.
    fn operator_type(&mut self, function: &str, types: &[Type], at: usize) -> Type {
        let resolved = self.resolve(function, CallStyle::Global, types, at);
        resolved.map_or(Type::Error, |resolved| resolved.of)
    }

    fn logic(&mut self, logic: &Logic) -> TypedExpr {
        let args: Vec<TypedExpr> = logic.args.iter().map(|arg| self.expr(arg)).collect();
        let mut types = args.iter().map(|arg| arg.of.clone());
        let first = types.next().unwrap_or(Type::Bool);
        let of = types
            .zip(&logic.operators_at)
            .fold(first, |left, (right, at)| {
                self.operator_type(logic.operator.function(), &[left, right], *at)
            });
        TypedExpr::new(TypedNode::Logic(logic.operator, args), of)
    }
}

fn literal_type(value: &Value) -> Type {
    match value {
        Value::Null => Type::Null,
        Value::Bool(_) => Type::Bool,
        Value::Int(_) => Type::Int,
        Value::Uint(_) => Type::Uint,
        Value::Double(_) => Type::Double,
        Value::String(_) => Type::String,
        Value::Bytes(_) => Type::Bytes,
        _ => Type::Dyn,
    }
}

/// A type that expressions use as a value, such as `string` in `type(x) == string`.
fn type_name(name: &str) -> Option<(&'static str, Type)> {
    let types = [
        ("bool", Type::Bool),
        ("int", Type::Int),
        ("uint", Type::Uint),
        ("double", Type::Double),
        ("string", Type::String),
        ("bytes", Type::Bytes),
        ("list", Type::list(Type::Dyn)),
        ("map", Type::map(Type::Dyn, Type::Dyn)),
        ("null_type", Type::Null),
        ("type", Type::Dyn),
        ("dyn", Type::Dyn),
        ("optional_type", Type::Dyn),
    ];
    types.into_iter().find(|(known, _)| *known == name)
}
