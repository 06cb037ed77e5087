//! Parses what is between brackets: arguments, lists, maps and object literals.

use super::expr::{Entry, Expr, Item, Member, Node, ObjectExpr};
use super::parse::{Parsed, Parser};
use super::source_error::SourceError;

impl Parser {
    pub(super) fn arguments(&mut self, end: &str) -> Result<Vec<Expr>, SourceError> {
        let mut args = Vec::new();
        while self.take_operator(end).is_none() {
            args.push(self.expr()?);
            self.separator(end)?;
        }
        Ok(args)
    }

    /// A comma, which may be left out before the end.
    fn separator(&mut self, end: &str) -> Result<(), SourceError> {
        if !self.is_operator(end) {
            self.expect(",")?;
        }
        Ok(())
    }

    pub(super) fn object(&mut self, type_name: String) -> Parsed {
        let at = self.expect("{")?;
        let mut members = Vec::new();
        while self.take_operator("}").is_none() {
            let is_optional = self.take_operator("?").is_some();
            let name = self.field_name()?;
            let at = self.expect(":")?;
            let value = self.expr()?;
            members.push(Member {
                at,
                name,
                value,
                is_optional,
            });
            self.separator("}")?;
        }
        let object = ObjectExpr { type_name, members };
        Ok(Expr::new(at, Node::Object(object)))
    }

    pub(super) fn list(&mut self, at: usize) -> Parsed {
        let mut items = Vec::new();
        while self.take_operator("]").is_none() {
            let is_optional = self.take_operator("?").is_some();
            let value = self.expr()?;
            items.push(Item { value, is_optional });
            self.separator("]")?;
        }
        Ok(Expr::new(at, Node::List(items)))
    }

    pub(super) fn map(&mut self, at: usize) -> Parsed {
        let mut entries = Vec::new();
        while self.take_operator("}").is_none() {
            let is_optional = self.take_operator("?").is_some();
            let key = self.expr()?;
            self.expect(":")?;
            let value = self.expr()?;
            entries.push(Entry {
                key,
                value,
                is_optional,
            });
            self.separator("}")?;
        }
        Ok(Expr::new(at, Node::Map(entries)))
    }
}
