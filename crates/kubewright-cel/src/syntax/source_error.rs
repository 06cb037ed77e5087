//! Errors in the source of an expression, printed as cel-go prints them.

/// The longest line that is printed with an error.
const MAX_SNIPPET: usize = 16_384;

/// An error and its position in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceError {
    /// The byte of the source.
    pub(crate) at: usize,
    pub(crate) message: String,
}

impl SourceError {
    /// An error of the grammar.
    pub(super) fn syntax(at: usize, message: &str) -> Self {
        Self {
            at,
            message: format!("Syntax error: {message}"),
        }
    }
}

/// Prints all errors of an expression, each with its line and a mark below the position
/// (`ToDisplayString` of cel-go/common).
pub(crate) fn render(source: &str, mut errors: Vec<SourceError>) -> String {
    errors.sort_by_key(|error| error.at);
    errors.dedup();
    let texts: Vec<String> = errors
        .iter()
        .map(|error| render_error(source, error))
        .collect();
    texts.join("\n")
}

fn render_error(source: &str, error: &SourceError) -> String {
    let before = source.get(..error.at).unwrap_or(source);
    let line = before.matches('\n').count();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count();
    let mut text = format!(
        "ERROR: <input>:{}:{}: {}",
        line + 1,
        column + 1,
        error.message
    );
    let source_line = source.split('\n').nth(line).unwrap_or_default();
    if source_line.len() > MAX_SNIPPET {
        return text;
    }
    let snippet = source_line.replace('\t', " ");
    let is_wide = |c: char| !c.is_ascii();
    let dots: String = snippet
        .chars()
        .take(column)
        .map(|c| if is_wide(c) { '\u{ff0e}' } else { '.' })
        .collect();
    let mark = if snippet.chars().nth(column).is_some_and(is_wide) {
        '\u{ff3e}'
    } else {
        '^'
    };
    text.push_str(&format!("\n | {snippet}\n | {dots}{mark}"));
    text
}

#[cfg(test)]
mod tests {
    use super::{SourceError, render};

    #[test]
    fn errors_are_marked_at_their_positions_in_order() {
        let error = |at: usize, message: &str| SourceError {
            at,
            message: message.to_owned(),
        };
        assert_eq!(
            render("a &&\n\tself.b", vec![error(10, "two"), error(0, "one")]),
            "ERROR: <input>:1:1: one\n | a &&\n | ^\n\
             ERROR: <input>:2:6: two\n |  self.b\n | .....^"
        );
    }
}
