use syn::spanned::Spanned as _;
use syn::{Expr, Item, ItemFn, ReturnType, Stmt};

use super::Source;

/// What became of a call that was to be added.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// The new text of the file.
    Text(String),
    /// The function is there, and the place in it cannot be told: at which line, and why.
    Unclear {
        /// Where the function, or its last expression, begins.
        line: usize,
        /// What stands in the way.
        why: &'static str,
    },
    /// The file has no such function.
    Absent,
}

/// Adds `.call(..)` behind the operator that the function `operator` returns.
pub(crate) fn append_call(source: &Source, call: &str) -> Placed {
    let function = source.syntax.items.iter().find_map(|item| match item {
        Item::Fn(function) if function.sig.ident == "operator" => Some(function),
        _ => None,
    });
    let Some(function) = function else {
        return Placed::Absent;
    };
    let unclear = |line, why| Placed::Unclear { line, why };
    let first_line = function.sig.fn_token.span.start().line;
    if !returns_operator(function) {
        return unclear(first_line, "`operator` does not return an `Operator`");
    }
    let Some(last) = returned(&function.block.stmts) else {
        return unclear(first_line, "`operator` ends without an expression");
    };
    let last = unwrapped(last);
    match last {
        Expr::MethodCall(_) | Expr::Call(_) | Expr::Path(_) => {
            Placed::Text(appended(source, last, call))
        }
        _ => unclear(
            last.span().start().line,
            "`operator` ends with something else than a chain of calls",
        ),
    }
}

/// Whether the function returns an `Operator`, or a `Result` or `Option` of one.
fn returns_operator(function: &ItemFn) -> bool {
    let ReturnType::Type(_, returned) = &function.sig.output else {
        return false;
    };
    is_operator(returned)
}

fn is_operator(returned: &syn::Type) -> bool {
    let syn::Type::Path(path) = returned else {
        return false;
    };
    let Some(last) = path.path.segments.last() else {
        return false;
    };
    if last.ident == "Operator" {
        return true;
    }
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return false;
    };
    let first = arguments.args.first();
    matches!(first, Some(syn::GenericArgument::Type(first)) if is_operator(first))
}

/// The value of a block: its last expression, or what its last statement returns.
fn returned(statements: &[Stmt]) -> Option<&Expr> {
    match statements.last()? {
        Stmt::Expr(Expr::Return(last), _) => last.expr.as_deref(),
        Stmt::Expr(last, None) => Some(last),
        _ => None,
    }
}

/// The operator itself, where it stands in `Ok(..)`, `Some(..)`, parentheses or a block.
fn unwrapped(expression: &Expr) -> &Expr {
    let inner = match expression {
        Expr::Paren(inner) => Some(&*inner.expr),
        Expr::Block(block) if block.label.is_none() => returned(&block.block.stmts),
        Expr::Call(call) if call.args.len() == 1 => match &*call.func {
            Expr::Path(path) if path.path.is_ident("Ok") || path.path.is_ident("Some") => {
                call.args.first()
            }
            _ => None,
        },
        _ => None,
    };
    inner.map_or(expression, unwrapped)
}

/// On a line of its own where the calls before it stand on theirs.
fn appended(source: &Source, last: &Expr, call: &str) -> String {
    let end = source.range(last.span()).end;
    let Some(indent) = line_of_its_own(source, last) else {
        return source.inserted(end, call);
    };
    let addition = format!("{}{indent}{call}", source.line_break());
    source.inserted(source.behind_comment(end), &addition)
}

/// How far the last call of a chain is indented, when it begins a line.
fn line_of_its_own<'a>(source: &'a Source, last: &Expr) -> Option<&'a str> {
    let Expr::MethodCall(call) = last else {
        return None;
    };
    let dot = source.range(call.dot_token.span()).start;
    let before = source.text.get(..dot)?;
    let line_start = before.rfind('\n')? + 1;
    let blank = before.get(line_start..)?.trim().is_empty();
    blank.then(|| source.indent_at(dot))
}
