use super::expr::{Call, Expr, Loop, LoopKind, Node};
use super::problem::Problem;
use super::value::Value;

/// `a.b.c`, where nothing but names stand.
pub(super) fn qualified(expr: &Expr) -> Option<String> {
    match &expr.node {
        Node::Ident(name) => Some(name.clone()),
        Node::Select(operand, field) => Some(format!("{}.{field}", qualified(operand)?)),
        _ => None,
    }
}

/// A function that is called with what stands in parentheses.
pub(super) fn call(at: usize, name: &str, args: Vec<Expr>) -> Expr {
    Expr::new(
        at,
        Node::Call(Call {
            target: None,
            name: name.to_owned(),
            args,
        }),
    )
}

/// An error of the grammar.
pub(super) fn syntax(at: usize, why: &str) -> Problem {
    Problem {
        at,
        message: format!("Syntax error: {why}"),
    }
}

/// The loop that a macro stands for; its first arguments are names.
pub(super) fn expand(
    (kind, count): (LoopKind, usize),
    range: Expr,
    mut args: Vec<Expr>,
    at: usize,
) -> Result<Expr, Problem> {
    let mut rest = args.split_off(count.min(args.len()));
    let mut names = Vec::new();
    for argument in args {
        match argument.node {
            Node::Ident(name) => names.push(name),
            _ => {
                return Err(Problem {
                    at: argument.at,
                    message: "argument is not an identifier".to_owned(),
                });
            }
        }
    }
    let Some(body) = rest.pop() else {
        return Err(syntax(at, "a macro without a body"));
    };
    let node = Node::Loop(Box::new(Loop {
        kind,
        range,
        names,
        filter: rest.pop(),
        body,
    }));
    Ok(Expr::new(at, node))
}

/// A whole number, also one with letters for digits.
pub(super) fn whole(text: &str) -> Option<Value> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let number = match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(&format!("{sign}{hex}"), 16),
        None => text.parse(),
    };
    number.ok().map(Value::Int)
}

/// The same for one without a sign.
pub(super) fn unsigned(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}
