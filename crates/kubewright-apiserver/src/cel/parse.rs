use super::escape::is_reserved;
use super::expr::{Call, Entry, Expr, Item, Logic, LoopKind, Make, Member, Node};
use super::nodes::{call, expand, qualified, syntax, unsigned, whole};
use super::problem::Problem;
use super::token::{Token, TokenKind, tokens};
use super::value::Value;

/// How deep an expression may nest.
const DEEPEST: usize = 100;
/// How many nodes may stand below each other: what is parsed is walked recursively.
const HIGHEST: usize = 150;
/// The longest expression that is read.
const LONGEST: usize = 100_000;

const RELATIONS: [(&str, &str); 7] = [
    ("==", "_==_"),
    ("!=", "_!=_"),
    ("<=", "_<=_"),
    (">=", "_>=_"),
    ("<", "_<_"),
    (">", "_>_"),
    ("in", "@in"),
];
const SUMS: [(&str, &str); 2] = [("+", "_+_"), ("-", "_-_")];
const PRODUCTS: [(&str, &str); 3] = [("*", "_*_"), ("/", "_/_"), ("%", "_%_")];

/// Reads an expression.
pub(super) fn parse(source: &str) -> Result<Expr, Problem> {
    if source.chars().count() > LONGEST {
        return Err(Problem {
            at: 0,
            message: format!("expression code point size exceeds limit: {LONGEST}"),
        });
    }
    let mut parser = Parser {
        tokens: tokens(source)?,
        next: 0,
        depth: 0,
    };
    let expr = parser.expr()?;
    match &parser.peek().kind {
        TokenKind::End => Ok(expr),
        _ => Err(parser.unexpected("expecting the end")),
    }
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

type Parsed = Result<Expr, Problem>;

impl Parser {
    /// # Panics
    ///
    /// Never: the last token is the end, and nothing goes past it.
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

    fn is_operator(&self, operator: &str) -> bool {
        match &self.peek().kind {
            TokenKind::Operator(one) => *one == operator,
            TokenKind::Ident(name) => operator == "in" && name == "in",
            _ => false,
        }
    }

    /// The place of an operator that stands here; it is passed.
    fn takes(&mut self, operator: &str) -> Option<usize> {
        self.is_operator(operator).then(|| self.take().at)
    }

    fn expect(&mut self, operator: &str) -> Result<usize, Problem> {
        let wanted = format!("expecting '{operator}'");
        self.takes(operator).ok_or_else(|| self.unexpected(&wanted))
    }

    fn unexpected(&self, wanted: &str) -> Problem {
        let token = self.peek();
        let found = match &token.kind {
            TokenKind::End => "<EOF>".to_owned(),
            TokenKind::Operator(one) => (*one).to_owned(),
            TokenKind::Ident(name) => name.clone(),
            TokenKind::Int(text, _) => text.clone(),
            TokenKind::Double(number) => number.to_string(),
            TokenKind::Text(text) => format!("{text:?}"),
            TokenKind::Bytes(_) => "bytes".to_owned(),
        };
        Problem {
            at: token.at,
            message: format!("Syntax error: mismatched input '{found}' {wanted}"),
        }
    }

    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Problem {
                at: self.peek().at,
                message: format!("expression recursion limit exceeded: {DEEPEST}"),
            });
        }
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// The same node, unless too many stand below each other.
    fn bounded(&self, expr: Expr) -> Parsed {
        match expr.height > HIGHEST {
            true => Err(Problem {
                at: self.peek().at,
                message: format!("expression recursion limit exceeded: {DEEPEST}"),
            }),
            false => Ok(expr),
        }
    }

    fn expr(&mut self) -> Parsed {
        self.nested(|parser| {
            let condition = parser.logic(true)?;
            let Some(at) = parser.takes("?") else {
                return parser.bounded(condition);
            };
            let yes = parser.logic(true)?;
            parser.expect(":")?;
            let no = parser.expr()?;
            let node = Node::Choice(Box::new([condition, yes, no]));
            parser.bounded(Expr::new(at, node))
        })
    }

    /// `a || b`, or one level below, `a && b`.
    fn logic(&mut self, decides: bool) -> Parsed {
        let operator = if decides { "||" } else { "&&" };
        let below = |parser: &mut Self| match decides {
            true => parser.logic(false),
            false => parser.chain(&[&RELATIONS, &SUMS, &PRODUCTS]),
        };
        let mut args = vec![below(self)?];
        let mut operators = Vec::new();
        while let Some(at) = self.takes(operator) {
            operators.push(at);
            args.push(below(self)?);
        }
        match (args.len(), operators.first()) {
            (1, _) | (_, None) => Ok(args.remove(0)),
            (_, Some(at)) => Ok(Expr::new(
                *at,
                Node::Logic(Logic {
                    decides,
                    args,
                    operators,
                }),
            )),
        }
    }

    /// Operators of one level, which bind from the left, over those of the levels below.
    fn chain(&mut self, levels: &[&[(&str, &str)]]) -> Parsed {
        let Some((level, below)) = levels.split_first() else {
            return self.unary();
        };
        let mut left = self.chain(below)?;
        let depth = self.depth;
        loop {
            let found = level.iter().find(|(text, _)| self.is_operator(text));
            let Some((_, name)) = found else {
                self.depth = depth;
                return Ok(left);
            };
            let at = self.take().at;
            // What stands on the left is one level deeper now.
            self.nested(|_| Ok(()))?;
            self.depth += 1;
            let right = self.chain(below)?;
            left = self.bounded(call(at, name, vec![left, right]))?;
        }
    }

    fn unary(&mut self) -> Parsed {
        if let Some(at) = self.takes("!") {
            let operand = self.nested(Self::unary)?;
            return Ok(call(at, "!_", vec![operand]));
        }
        let Some(at) = self.takes("-") else {
            return self.member();
        };
        let literal = match self.peek().kind.clone() {
            TokenKind::Int(text, false) => whole(&format!("-{text}")),
            TokenKind::Double(number) => Some(Value::Double(-number)),
            _ => None,
        };
        if let Some(value) = literal {
            self.take();
            let node = Node::Literal(value);
            return self.members(Expr::new(at, node));
        }
        let operand = self.nested(Self::unary)?;
        Ok(call(at, "-_", vec![operand]))
    }

    fn member(&mut self) -> Parsed {
        let first = self.primary()?;
        self.members(first)
    }

    fn members(&mut self, mut operand: Expr) -> Parsed {
        let depth = self.depth;
        loop {
            self.nested(|_| Ok(()))?;
            self.depth += 1;
            if let Some(at) = self.takes(".") {
                operand = self.after_dot(operand, at)?;
            } else if let Some(at) = self.takes("[") {
                let is_optional = self.takes("?").is_some();
                let index = self.expr()?;
                self.expect("]")?;
                operand = match is_optional {
                    true => Expr::new(at, Node::MaybeSelect(Box::new(operand), Box::new(index))),
                    false => call(at, "_[_]", vec![operand, index]),
                };
            } else {
                self.depth = depth;
                return Ok(operand);
            }
            operand = self.bounded(operand)?;
        }
    }

    fn after_dot(&mut self, operand: Expr, at: usize) -> Parsed {
        let is_optional = self.takes("?").is_some();
        let name_at = self.peek().at;
        let name = self.name()?;
        if !is_optional
            && self.is_operator("{")
            && let Some(space) = qualified(&operand)
        {
            return self.make(format!("{space}.{name}"));
        }
        let operand = Box::new(operand);
        if is_optional {
            let key = Expr::new(name_at, Node::Literal(Value::text(&name)));
            let node = Node::MaybeSelect(operand, Box::new(key));
            return Ok(Expr::new(at, node));
        }
        let Some(open) = self.takes("(") else {
            let node = Node::Select(operand, name);
            return Ok(Expr::new(at, node));
        };
        let args = self.arguments(")")?;
        match LoopKind::find(&name, args.len()) {
            Some((kind, names)) => expand((kind, names), *operand, args, open),
            None => Ok(Expr::new(
                open,
                Node::Call(Call {
                    target: Some(operand),
                    name,
                    args,
                }),
            )),
        }
    }

    /// A field's name: any word, also one that is kept for the language.
    fn name(&mut self) -> Result<String, Problem> {
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

    fn arguments(&mut self, end: &str) -> Result<Vec<Expr>, Problem> {
        let mut args = Vec::new();
        while self.takes(end).is_none() {
            args.push(self.expr()?);
            if !self.is_operator(end) {
                self.expect(",")?;
            }
        }
        Ok(args)
    }

    fn primary(&mut self) -> Parsed {
        let token = self.take();
        let at = token.at;
        let literal = |value| Ok(Expr::new(at, Node::Literal(value)));
        match token.kind {
            TokenKind::Int(text, false) => match whole(&text) {
                Some(value) => literal(value),
                None => Err(syntax(at, "invalid int literal")),
            },
            TokenKind::Int(text, true) => match unsigned(&text) {
                Some(number) => literal(Value::Uint(number)),
                None => Err(syntax(at, "invalid uint literal")),
            },
            TokenKind::Double(number) => literal(Value::Double(number)),
            TokenKind::Text(text) => literal(Value::text(&text)),
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
                let name = self.name()?;
                self.named(name, at)
            }
            _ => {
                self.next -= 1;
                Err(self.unexpected("expecting an expression"))
            }
        }
    }

    fn named(&mut self, name: String, at: usize) -> Parsed {
        if is_reserved(&name) {
            return Err(syntax(at, &format!("reserved identifier: {name}")));
        }
        if self.is_operator("{") {
            return self.make(name);
        }
        let Some(open) = self.takes("(") else {
            let node = Node::Ident(name);
            return Ok(Expr::new(at, node));
        };
        let mut args = self.arguments(")")?;
        if name == "has" && args.len() == 1 {
            return match args.remove(0).node {
                Node::Select(operand, field) => Ok(Expr::new(open, Node::Has(operand, field))),
                _ => Err(Problem {
                    at: open,
                    message: "invalid argument to has() macro".to_owned(),
                }),
            };
        }
        Ok(call(open, &name, args))
    }

    fn make(&mut self, name: String) -> Parsed {
        let at = self.expect("{")?;
        let mut members = Vec::new();
        while self.takes("}").is_none() {
            let is_optional = self.takes("?").is_some();
            let name = self.name()?;
            let at = self.expect(":")?;
            let value = self.expr()?;
            members.push(Member {
                at,
                name,
                value,
                is_optional,
            });
            if !self.is_operator("}") {
                self.expect(",")?;
            }
        }
        Ok(Expr::new(at, Node::Make(Make { name, members })))
    }

    fn list(&mut self, at: usize) -> Parsed {
        let mut items = Vec::new();
        while self.takes("]").is_none() {
            let is_optional = self.takes("?").is_some();
            let value = self.expr()?;
            items.push(Item { value, is_optional });
            if !self.is_operator("]") {
                self.expect(",")?;
            }
        }
        let node = Node::List(items);
        Ok(Expr::new(at, node))
    }

    fn map(&mut self, at: usize) -> Parsed {
        let mut entries = Vec::new();
        while self.takes("}").is_none() {
            let is_optional = self.takes("?").is_some();
            let key = self.expr()?;
            self.expect(":")?;
            let value = self.expr()?;
            entries.push(Entry {
                key,
                value,
                is_optional,
            });
            if !self.is_operator("}") {
                self.expect(",")?;
            }
        }
        let node = Node::Map(entries);
        Ok(Expr::new(at, node))
    }
}
