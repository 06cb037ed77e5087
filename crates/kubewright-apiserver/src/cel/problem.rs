use std::fmt;

/// The largest line that is shown under an error.
const LONGEST_SNIPPET: usize = 16_384;

/// Why an expression was not compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is wrong: the errors with their places, as cel-go prints them.
    Wrong(String),
    /// It is right, and uses a part of Kubernetes' CEL that is not here.
    Lacking(String),
}

impl Refusal {
    /// The same with what was being done before the errors.
    pub(crate) fn after(self, prefix: &str) -> Self {
        match self {
            Self::Wrong(errors) => Self::Wrong(format!("{prefix}{errors}")),
            lacking @ Self::Lacking(_) => lacking,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(errors) => f.write_str(errors),
            Self::Lacking(what) => write!(f, "{what} in CEL is not implemented yet"),
        }
    }
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It cannot be computed for these values.
    Failed(String),
    /// It costs more than it may.
    Spent,
}

impl Fault {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self::Failed(why.into())
    }

    /// What only values of no declared type can lead to.
    pub(super) fn no_overload() -> Self {
        Self::new("no such overload")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(why) => f.write_str(why),
            Self::Spent => f.write_str("operation cancelled: actual cost limit exceeded"),
        }
    }
}

/// An error and the byte of the source that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) at: usize,
    pub(super) message: String,
}

/// All errors of an expression, each with its line and a mark under the place
/// (`ToDisplayString` of cel-go/common).
pub(super) fn print(source: &str, mut problems: Vec<Problem>) -> String {
    problems.sort_by_key(|problem| problem.at);
    problems.dedup();
    let texts: Vec<String> = problems.iter().map(|one| print_one(source, one)).collect();
    texts.join("\n")
}

fn print_one(source: &str, problem: &Problem) -> String {
    let before = source.get(..problem.at).unwrap_or(source);
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(start..).unwrap_or_default().chars().count();
    let mut text = format!(
        "ERROR: <input>:{}:{}: {}",
        line + 1,
        column + 1,
        problem.message
    );
    let snippet = source.split('\n').nth(line).unwrap_or_default();
    if snippet.len() > LONGEST_SNIPPET {
        return text;
    }
    let snippet = snippet.replace('\t', " ");
    let wide = |c: char| !c.is_ascii();
    let dots = snippet.chars().take(column);
    let dots: String = dots
        .map(|c| if wide(c) { '\u{ff0e}' } else { '.' })
        .collect();
    let mark = match snippet.chars().nth(column).is_some_and(wide) {
        true => '\u{ff3e}',
        false => '^',
    };
    text.push_str(&format!("\n | {snippet}\n | {dots}{mark}"));
    text
}

#[cfg(test)]
mod tests {
    use super::{Problem, print};

    #[test]
    fn an_error_is_shown_under_its_place() {
        let problem = |at: usize, message: &str| Problem {
            at,
            message: message.to_owned(),
        };
        assert_eq!(
            print(
                "a &&\n\tself.b",
                vec![problem(10, "two"), problem(0, "one")]
            ),
            "ERROR: <input>:1:1: one\n | a &&\n | ^\n\
             ERROR: <input>:2:6: two\n |  self.b\n | .....^"
        );
    }
}
