//! Adds a call to the chain of calls that builds the operator.

use syn::spanned::Spanned as _;
use syn::{Expr, Item, ItemFn, ReturnType, Stmt};

use super::Source;

/// The result of adding a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AddedCall {
    /// The new text of the file.
    Text(String),
    /// The function has an unsupported form.
    Unsupported {
        /// The line of the function, or of its last expression.
        line: usize,
        reason: &'static str,
    },
    /// The file has no function `operator`.
    NoOperator,
}

/// Appends `.call(..)` to the operator that the function `operator` returns.
pub(crate) fn append_call(source: &Source, call: &str) -> AddedCall {
    let function = source.syntax.items.iter().find_map(|item| match item {
        Item::Fn(function) if function.sig.ident == "operator" => Some(function),
        _ => None,
    });
    let Some(function) = function else {
        return AddedCall::NoOperator;
    };
    let unsupported = |line, reason| AddedCall::Unsupported { line, reason };
    let first_line = function.sig.fn_token.span.start().line;
    if !returns_operator(function) {
        return unsupported(first_line, "`operator` does not return an `Operator`");
    }
    let Some(last) = returned(&function.block.stmts) else {
        return unsupported(first_line, "`operator` ends without an expression");
    };
    let built = unwrapped(last);
    match built {
        Expr::MethodCall(_) | Expr::Call(_) | Expr::Path(_) => {
            AddedCall::Text(appended(source, built, call))
        }
        _ => unsupported(
            built.span().start().line,
            "`operator` does not end with a chain of calls",
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

/// Returns the value of a block: its last expression, or the one that its last statement returns.
fn returned(statements: &[Stmt]) -> Option<&Expr> {
    match statements.last()? {
        Stmt::Expr(Expr::Return(last), _) => last.expr.as_deref(),
        Stmt::Expr(last, None) => Some(last),
        _ => None,
    }
}

/// Returns the operator inside `Ok(..)`, `Some(..)`, parentheses or a block.
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

/// Returns the text with the call, on a new line if the call before it starts a line.
fn appended(source: &Source, last: &Expr, call: &str) -> String {
    let end = source.range(last.span()).end;
    let Some(indent) = indent_of_line(source, last) else {
        return source.inserted(end, call);
    };
    let addition = format!("{}{indent}{call}", source.line_break());
    source.inserted(source.after_comment(end), &addition)
}

/// Returns the indentation of the last call in a chain, if it starts a line.
fn indent_of_line<'a>(source: &'a Source, last: &Expr) -> Option<&'a str> {
    let Expr::MethodCall(call) = last else {
        return None;
    };
    let dot = source.range(call.dot_token.span()).start;
    let before = source.text.get(..dot)?;
    let line_start = before.rfind('\n')? + 1;
    let is_blank = before.get(line_start..)?.trim().is_empty();
    is_blank.then(|| source.indent_at(dot))
}
