//! Checks the literals of lists, maps and objects.

use super::checker::Checker;
use super::typed_expr::{TypedEntry, TypedExpr, TypedItem, TypedMember, TypedNode, TypedObject};
use crate::syntax::{Entry, Expr, Item, ObjectExpr};
use crate::values::Type;

impl Checker<'_> {
    pub(super) fn list(&mut self, items: &[Item]) -> TypedExpr {
        let mut item_type = Type::Error;
        let mut typed = Vec::with_capacity(items.len());
        for Item { value, is_optional } in items {
            let at = value.at;
            let (value, of) = self.element(value, *is_optional);
            item_type = self.join(item_type, of, at);
            typed.push(TypedItem {
                value,
                is_optional: *is_optional,
            });
        }
        TypedExpr::new(TypedNode::List(typed), Type::list(or_dyn(item_type)))
    }

    pub(super) fn map(&mut self, entries: &[Entry]) -> TypedExpr {
        let (mut key_type, mut value_type) = (Type::Error, Type::Error);
        let mut typed = Vec::with_capacity(entries.len());
        for entry in entries {
            let key = self.expr(&entry.key);
            key_type = self.join(key_type, key.of.clone(), entry.key.at);
            let (value, of) = self.element(&entry.value, entry.is_optional);
            value_type = self.join(value_type, of, entry.value.at);
            typed.push(TypedEntry {
                key,
                value,
                is_optional: entry.is_optional,
            });
        }
        let of = Type::map(or_dyn(key_type), or_dyn(value_type));
        TypedExpr::new(TypedNode::Map(typed), of)
    }

    pub(super) fn object(&mut self, object: &ObjectExpr, at: usize) -> TypedExpr {
        let Some(of) = self.environment.object_literal_type(&object.type_name) else {
            self.undeclared(&object.type_name, at);
            return TypedExpr::invalid();
        };
        let mut members = Vec::with_capacity(object.members.len());
        for member in &object.members {
            let (value, actual) = self.element(&member.value, member.is_optional);
            let expected = self.field_type(of.clone(), &member.name, member.at);
            if !expected.is_compatible(&actual) {
                let message = format!(
                    "expected type of field '{}' is '{expected}' but provided type is '{actual}'",
                    member.name
                );
                self.error(member.at, message);
            }
            members.push(TypedMember {
                name: member.name.clone(),
                value,
                is_optional: member.is_optional,
            });
        }
        let type_name = object.type_name.clone();
        TypedExpr::new(TypedNode::Object(TypedObject { type_name, members }), of)
    }

    /// Checks an element of a list, map or object. Returns its type, that of the value of an
    /// optional element.
    fn element(&mut self, expr: &Expr, is_optional: bool) -> (TypedExpr, Type) {
        let typed = self.expr(expr);
        let of = match typed.of.clone() {
            Type::Optional(of) if is_optional => (*of).clone(),
            of if is_optional && !of.is_dynamic() => {
                let message = format!("expected type 'optional_type(dyn)' but found '{of}'");
                self.error(expr.at, message)
            }
            of => of,
        };
        (typed, of)
    }

    /// All elements of a list or map have one type.
    fn join(&mut self, all: Type, next: Type, at: usize) -> Type {
        if all.is_compatible(&next) {
            return all.join(next);
        }
        if self.format_depth > 0 {
            return Type::Dyn;
        }
        self.error(at, format!("expected type '{all}' but found '{next}'"))
    }
}

/// The type of the elements of a list or map without elements is `dyn`.
fn or_dyn(of: Type) -> Type {
    match of {
        Type::Error => Type::Dyn,
        other => other,
    }
}
