//! The parser.

use super::expr::{Call, Comprehension, Expr, Logic, LogicOperator, Node};
use super::macros::Macro;
use super::number::{parse_int, parse_uint};
use super::source_error::SourceError;
use super::token::{Token, TokenKind, tokenize};
use crate::identifier::is_reserved;
use crate::values::Value;

/// The maximum nesting of an expression.
const MAX_DEPTH: usize = 100;
/// The maximum height of the tree. Chains of operators are higher than they are nested, and the
/// tree is traversed recursively.
const MAX_HEIGHT: usize = 150;
/// The maximum length of an expression in characters.
const MAX_LENGTH: usize = 100_000;

/// Binary operators by precedence, the weakest first, with the functions that they call.
const BINARY_OPERATORS: [&[(&str, &str)]; 3] = [
    &[
        ("==", "_==_"),
        ("!=", "_!=_"),
        ("<=", "_<=_"),
        (">=", "_>=_"),
        ("<", "_<_"),
        (">", "_>_"),
        ("in", "@in"),
    ],
    &[("+", "_+_"), ("-", "_-_")],
    &[("*", "_*_"), ("/", "_/_"), ("%", "_%_")],
];

/// Parses an expression.
pub(crate) fn parse(source: &str) -> Result<Expr, SourceError> {
    if source.chars().count() > MAX_LENGTH {
        return Err(SourceError {
            at: 0,
            message: format!("expression code point size exceeds limit: {MAX_LENGTH}"),
        });
    }
    let mut parser = Parser {
        tokens: tokenize(source)?,
        next: 0,
        depth: 0,
    };
    let expr = parser.expr()?;
    match &parser.peek().kind {
        TokenKind::End => Ok(expr),
        _ => Err(parser.unexpected("expecting the end")),
    }
}

pub(super) struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

pub(super) type Parsed = Result<Expr, SourceError>;

impl Parser {
    /// # Panics
    ///
    /// Never: the last token is the end, and no index exceeds it.
    fn peek(&self) -> &Token {
        let last = self.tokens.len() - 1;
        let token = self.tokens.get(self.next.min(last));
        token.expect("the last token is the end")
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    pub(super) fn is_operator(&self, operator: &str) -> bool {
        match &self.peek().kind {
            TokenKind::Operator(found) => *found == operator,
            TokenKind::Ident(name) => operator == "in" && name == "in",
            _ => false,
        }
    }

    /// Consumes the operator if it is the next token. Returns its position.
    pub(super) fn take_operator(&mut self, operator: &str) -> Option<usize> {
        self.is_operator(operator).then(|| self.take().at)
    }

    pub(super) fn expect(&mut self, operator: &str) -> Result<usize, SourceError> {
        let expected = format!("expecting '{operator}'");
        self.take_operator(operator)
            .ok_or_else(|| self.unexpected(&expected))
    }

    fn unexpected(&self, expected: &str) -> SourceError {
        let token = self.peek();
        let found = match &token.kind {
            TokenKind::End => "<EOF>".to_owned(),
            TokenKind::Operator(operator) => (*operator).to_owned(),
            TokenKind::Ident(text) | TokenKind::Int(text) | TokenKind::Uint(text) => text.clone(),
            TokenKind::Double(number) => number.to_string(),
            TokenKind::String(text) => format!("{text:?}"),
            TokenKind::Bytes(_) => "bytes".to_owned(),
        };
        SourceError::syntax(token.at, &format!("mismatched input '{found}' {expected}"))
    }

    fn too_deep(&self) -> SourceError {
        SourceError {
            at: self.peek().at,
            message: format!("expression recursion limit exceeded: {MAX_DEPTH}"),
        }
    }

    fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        self.enter()?;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn enter(&mut self) -> Result<(), SourceError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.too_deep());
        }
        Ok(())
    }

    /// Fails if the tree of the expression is too high.
    fn bounded(&self, expr: Expr) -> Parsed {
        if expr.height > MAX_HEIGHT {
            Err(self.too_deep())
        } else {
            Ok(expr)
        }
    }

    pub(super) fn expr(&mut self) -> Parsed {
        self.nested(|parser| {
            let condition = parser.logic(LogicOperator::Or)?;
            let Some(at) = parser.take_operator("?") else {
                return parser.bounded(condition);
            };
            let then = parser.logic(LogicOperator::Or)?;
            parser.expect(":")?;
            let otherwise = parser.expr()?;
            let node = Node::Conditional(Box::new([condition, then, otherwise]));
            parser.bounded(Expr::new(at, node))
        })
    }

    /// A chain of `||`, or of `&&`, which binds stronger.
    fn logic(&mut self, operator: LogicOperator) -> Parsed {
        let operand = |parser: &mut Self| match operator {
            LogicOperator::Or => parser.logic(LogicOperator::And),
            LogicOperator::And => parser.binary(&BINARY_OPERATORS),
        };
        let first = operand(self)?;
        let mut args = vec![first];
        let mut operators_at = Vec::new();
        while let Some(at) = self.take_operator(operator.token()) {
            operators_at.push(at);
            args.push(operand(self)?);
        }
        match operators_at.first() {
            None => Ok(args.remove(0)),
            Some(at) => Ok(Expr::new(
                *at,
                Node::Logic(Logic {
                    operator,
                    args,
                    operators_at,
                }),
            )),
        }
    }

    /// Binary operators of one precedence, from left to right, over those that bind stronger.
    fn binary(&mut self, levels: &[&[(&str, &str)]]) -> Parsed {
        let Some((level, stronger)) = levels.split_first() else {
            return self.unary();
        };
        let mut left = self.binary(stronger)?;
        let depth = self.depth;
        loop {
            let found = level.iter().find(|(text, _)| self.is_operator(text));
            let Some((_, function)) = found else {
                self.depth = depth;
                return Ok(left);
            };
            let at = self.take().at;
            // The left operand is one level deeper now.
            self.enter()?;
            let right = self.binary(stronger)?;
            left = self.bounded(Expr::call(at, function, vec![left, right]))?;
        }
    }

    fn unary(&mut self) -> Parsed {
        if let Some(at) = self.take_operator("!") {
            let operand = self.nested(Self::unary)?;
            return Ok(Expr::call(at, "!_", vec![operand]));
        }
        let Some(at) = self.take_operator("-") else {
            return self.member();
        };
        let literal = match self.peek().kind.clone() {
            TokenKind::Int(text) => parse_int(&format!("-{text}")).map(Value::Int),
            TokenKind::Double(number) => Some(Value::Double(-number)),
            _ => None,
        };
        if let Some(value) = literal {
            self.take();
            return self.members(Expr::new(at, Node::Literal(value)));
        }
        let operand = self.nested(Self::unary)?;
        Ok(Expr::call(at, "-_", vec![operand]))
    }

    fn member(&mut self) -> Parsed {
        let first = self.primary()?;
        self.members(first)
    }

    /// What follows an operand: `.b`, `.b(..)`, `[b]`.
    fn members(&mut self, mut operand: Expr) -> Parsed {
        let depth = self.depth;
        loop {
            self.enter()?;
            if let Some(at) = self.take_operator(".") {
                operand = self.after_dot(operand, at)?;
            } else if let Some(at) = self.take_operator("[") {
                let is_optional = self.take_operator("?").is_some();
                let index = self.expr()?;
                self.expect("]")?;
                operand = if is_optional {
                    Expr::new(at, Node::OptionalSelect(operand.into(), index.into()))
                } else {
                    Expr::call(at, "_[_]", vec![operand, index])
                };
            } else {
                self.depth = depth;
                return Ok(operand);
            }
            operand = self.bounded(operand)?;
        }
    }

    fn after_dot(&mut self, operand: Expr, at: usize) -> Parsed {
        let is_optional = self.take_operator("?").is_some();
        let name_at = self.peek().at;
        let name = self.field_name()?;
        if !is_optional
            && self.is_operator("{")
            && let Some(namespace) = operand.qualified_name()
        {
            return self.object(format!("{namespace}.{name}"));
        }
        if is_optional {
            let key = Expr::new(name_at, Node::Literal(Value::string(&name)));
            let node = Node::OptionalSelect(operand.into(), key.into());
            return Ok(Expr::new(at, node));
        }
        let Some(open) = self.take_operator("(") else {
            return Ok(Expr::new(at, Node::Select(operand.into(), name)));
        };
        let args = self.arguments(")")?;
        if let Some(definition) = Macro::find(&name, args.len()) {
            return comprehension(definition, operand, args, open);
        }
        let call = Call {
            target: Some(operand.into()),
            function: name,
            args,
        };
        Ok(Expr::new(open, Node::Call(call)))
    }

    /// The name of a field. It may be a reserved word, unlike that of a variable.
    pub(super) fn field_name(&mut self) -> Result<String, SourceError> {
        match self.peek().kind.clone() {
            TokenKind::Ident(name)
                if !matches!(name.as_str(), "in" | "true" | "false" | "null") =>
            {
                self.take();
                Ok(name)
            }
            _ => Err(self.unexpected("expecting IDENTIFIER")),
        }
    }

    fn primary(&mut self) -> Parsed {
        let token = self.take();
        let at = token.at;
        let literal = |value| Ok(Expr::new(at, Node::Literal(value)));
        match token.kind {
            TokenKind::Int(text) => match parse_int(&text) {
                Some(number) => literal(Value::Int(number)),
                None => Err(SourceError::syntax(at, "invalid int literal")),
            },
            TokenKind::Uint(text) => match parse_uint(&text) {
                Some(number) => literal(Value::Uint(number)),
                None => Err(SourceError::syntax(at, "invalid uint literal")),
            },
            TokenKind::Double(number) => literal(Value::Double(number)),
            TokenKind::String(text) => literal(Value::string(&text)),
            TokenKind::Bytes(bytes) => literal(Value::Bytes(bytes.into())),
            TokenKind::Ident(name) => match name.as_str() {
                "true" => literal(Value::Bool(true)),
                "false" => literal(Value::Bool(false)),
                "null" => literal(Value::Null),
                _ => self.named(name, at),
            },
            TokenKind::Operator("(") => {
                let inner = self.expr()?;
                self.expect(")")?;
                Ok(inner)
            }
            TokenKind::Operator("[") => self.list(at),
            TokenKind::Operator("{") => self.map(at),
            TokenKind::Operator(".") => {
                let name = self.field_name()?;
                self.named(name, at)
            }
            _ => {
                self.next -= 1;
                Err(self.unexpected("expecting an expression"))
            }
        }
    }

    /// A variable, a call of a function or an object literal.
    fn named(&mut self, name: String, at: usize) -> Parsed {
        if is_reserved(&name) {
            let message = format!("reserved identifier: {name}");
            return Err(SourceError::syntax(at, &message));
        }
        if self.is_operator("{") {
            return self.object(name);
        }
        let Some(open) = self.take_operator("(") else {
            return Ok(Expr::new(at, Node::Ident(name)));
        };
        let mut args = self.arguments(")")?;
        if name == "has" && args.len() == 1 {
            return match args.remove(0).node {
                Node::Select(operand, field) => Ok(Expr::new(open, Node::Has(operand, field))),
                _ => Err(SourceError {
                    at: open,
                    message: "invalid argument to has() macro".to_owned(),
                }),
            };
        }
        Ok(Expr::call(open, &name, args))
    }
}

/// The comprehension of a macro. The first arguments are its variables, the last one is its body.
fn comprehension(definition: Macro, range: Expr, mut args: Vec<Expr>, at: usize) -> Parsed {
    let mut rest = args.split_off(definition.variable_count.min(args.len()));
    let mut variables = Vec::new();
    for argument in args {
        match argument.node {
            Node::Ident(name) => variables.push(name),
            _ => {
                return Err(SourceError {
                    at: argument.at,
                    message: "argument is not an identifier".to_owned(),
                });
            }
        }
    }
    let Some(body) = rest.pop() else {
        return Err(SourceError::syntax(at, "a macro without a body"));
    };
    let comprehension = Comprehension {
        kind: definition.kind,
        range,
        variables,
        filter: rest.pop(),
        body,
    };
    Ok(Expr::new(at, Node::Comprehension(Box::new(comprehension))))
}
