//! Checks comprehensions.

use super::checker::Checker;
use super::typed_expr::{TypedComprehension, TypedExpr, TypedNode};
use crate::syntax::{Comprehension, ComprehensionKind, Expr};
use crate::values::Type;

impl Checker<'_> {
    pub(super) fn comprehension(&mut self, of: &Comprehension) -> TypedExpr {
        let range = self.expr(&of.range);
        let Some(types) = self.variable_types(of, &range.of) else {
            return TypedExpr::invalid();
        };
        let outer = self.locals.len();
        self.locals.extend(of.variables.iter().cloned().zip(types));
        let filter = of.filter.as_ref().map(|filter| self.condition(filter));
        let body = self.body(of);
        self.locals.truncate(outer);
        let result = result_type(of.kind, &range.of, &body.of);
        let comprehension = TypedComprehension {
            kind: of.kind,
            range,
            variable_count: of.variables.len(),
            filter,
            body,
        };
        TypedExpr::new(TypedNode::Comprehension(Box::new(comprehension)), result)
    }

    /// The types of the variables, or `None` if nothing further can be checked.
    fn variable_types(&mut self, of: &Comprehension, range: &Type) -> Option<Vec<Type>> {
        let count = of.variables.len();
        let at = of.range.at;
        Some(match (range, of.kind.is_over_optional()) {
            (Type::List(item, _), false) if count == 2 => vec![Type::Int, (**item).clone()],
            (Type::Optional(of), true) | (Type::List(of, _), false) => vec![(**of).clone()],
            (Type::Map(key, value), false) if count == 2 => {
                vec![(**key).clone(), (**value).clone()]
            }
            (Type::Map(key, _), false) => vec![(**key).clone()],
            (range, _) if range.is_dynamic() => vec![Type::Dyn; count],
            (range, true) => {
                let name = match of.kind {
                    ComprehensionKind::OptMap => "optMap",
                    _ => "optFlatMap",
                };
                let message =
                    format!("found no matching overload for '{name}' applied to '{range}'");
                self.error(at, message);
                return None;
            }
            (range, false) => {
                let message = format!(
                    "expression of type '{range}' cannot be range of a comprehension (must be \
                     list, map, or dynamic)"
                );
                vec![self.error(at, message); count]
            }
        })
    }

    fn body(&mut self, of: &Comprehension) -> TypedExpr {
        match of.kind {
            ComprehensionKind::All
            | ComprehensionKind::Exists
            | ComprehensionKind::ExistsOne
            | ComprehensionKind::Filter => self.condition(&of.body),
            _ => self.expr(&of.body),
        }
    }

    /// Checks an expression that must be of type `bool`.
    fn condition(&mut self, expr: &Expr) -> TypedExpr {
        let typed = self.expr(expr);
        if !typed.of.is_compatible(&Type::Bool) {
            let message = format!("expected type 'bool' but found '{}'", typed.of);
            self.error(expr.at, message);
        }
        typed
    }
}

/// The type of a comprehension.
fn result_type(kind: ComprehensionKind, range: &Type, body: &Type) -> Type {
    match kind {
        ComprehensionKind::All | ComprehensionKind::Exists | ComprehensionKind::ExistsOne => {
            Type::Bool
        }
        ComprehensionKind::Filter => match range {
            Type::Map(key, _) => Type::list((**key).clone()),
            other => other.clone(),
        },
        ComprehensionKind::SortBy => range.clone(),
        ComprehensionKind::Map | ComprehensionKind::TransformList => Type::list(body.clone()),
        ComprehensionKind::TransformMap => {
            let key = match range {
                Type::Map(key, _) => (**key).clone(),
                Type::List(..) => Type::Int,
                _ => Type::Dyn,
            };
            Type::map(key, body.clone())
        }
        ComprehensionKind::TransformMapEntry | ComprehensionKind::OptFlatMap => body.clone(),
        ComprehensionKind::OptMap => Type::optional(body.clone()),
    }
}
