//! Differences between an object in a cluster and the same object after an apply.

use kubewright_manifest::to_yaml;
use serde_json::Value;

/// The number of unchanged lines that are shown around a change.
const CONTEXT: usize = 2;

/// The change that an apply would make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// The object is new; these are its lines.
    New(Vec<String>),
    /// Nothing.
    None,
    /// Removed (`-`), added (`+`) and unchanged (` `) lines.
    Lines(Vec<String>),
}

/// Compares an object in the cluster with what would be stored.
pub(crate) fn difference(live: Option<&Value>, result: &Value) -> Difference {
    let Some(live) = live else {
        let mut new = comparable(result);
        if new["kind"] == "Secret" {
            hide_data(&mut new, &Value::Null, "(not shown)");
        }
        return Difference::New(text_difference("", &lines(&new).join("\n")));
    };
    let (mut old, mut new) = (comparable(live), comparable(result));
    if old == new {
        return Difference::None;
    }
    if new["kind"] == "Secret" {
        hide_values(&mut old, &mut new);
    }
    let (old, new) = (lines(&old), lines(&new));
    Difference::Lines(shortened(&changes(&old, &new)))
}

/// Returns the difference of two texts, line by line.
pub(crate) fn text_difference(old: &str, new: &str) -> Vec<String> {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    shortened(&changes(&lines(old), &lines(new)))
}

/// Returns the object without the fields that the server sets.
fn comparable(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in [
            "managedFields",
            "resourceVersion",
            "generation",
            "uid",
            "creationTimestamp",
        ] {
            metadata.remove(field);
        }
    }
    object
}

/// Hides the values of a Secret, which must not get into a terminal or a log: the difference shows
/// only which of them change.
fn hide_values(old: &mut Value, new: &mut Value) {
    let (old_data, new_data) = (old["data"].clone(), new["data"].clone());
    hide_data(old, &new_data, "(not shown, old)");
    hide_data(new, &old_data, "(not shown, new)");
}

fn hide_data(secret: &mut Value, other: &Value, changed: &str) {
    let values = secret.get_mut("data").and_then(Value::as_object_mut);
    for (key, value) in values.into_iter().flatten() {
        let is_same = other.get(key) == Some(&*value);
        let shown = if is_same { "(not shown)" } else { changed };
        *value = Value::from(shown);
    }
}

fn lines(object: &Value) -> Vec<String> {
    let text = to_yaml(std::slice::from_ref(object)).unwrap_or_else(|_| format!("{object:#}\n"));
    text.lines().map(str::to_owned).collect()
}

/// A line of the old text, the new text, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    Same(String),
    Removed(String),
    Added(String),
}

/// Returns the shortest edit from one text to the other. The longest common subsequence is computed
/// only between the first and the last line that differ.
fn changes(old: &[String], new: &[String]) -> Vec<Line> {
    let shorter = old.len().min(new.len());
    let start = (0..shorter).take_while(|&at| old[at] == new[at]).count();
    let end = (0..shorter - start)
        .take_while(|&at| old[old.len() - 1 - at] == new[new.len() - 1 - at])
        .count();
    let same = |line: &String| Line::Same(line.clone());
    let mut changes: Vec<Line> = old[..start].iter().map(same).collect();
    changes.extend(middle(
        &old[start..old.len() - end],
        &new[start..new.len() - end],
    ));
    changes.extend(old[old.len() - end..].iter().map(same));
    changes
}

fn middle(old: &[String], new: &[String]) -> Vec<Line> {
    // common[i][j]: the number of lines that old[i..] and new[j..] have in common.
    let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if old[i] == new[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            lines.push(Line::Same(old[i].clone()));
            (i, j) = (i + 1, j + 1);
        } else if common[i + 1][j] >= common[i][j + 1] {
            lines.push(Line::Removed(old[i].clone()));
            i += 1;
        } else {
            lines.push(Line::Added(new[j].clone()));
            j += 1;
        }
    }
    lines.extend(old[i..].iter().cloned().map(Line::Removed));
    lines.extend(new[j..].iter().cloned().map(Line::Added));
    lines
}

/// Returns the changes with a few lines of context; `...` replaces the other lines.
fn shortened(changes: &[Line]) -> Vec<String> {
    let is_near = |at: usize| {
        let from = at.saturating_sub(CONTEXT);
        let until = (at + CONTEXT + 1).min(changes.len());
        changes[from..until]
            .iter()
            .any(|line| !matches!(line, Line::Same(_)))
    };
    let mut shown: Vec<String> = Vec::new();
    for (at, line) in changes.iter().enumerate() {
        match line {
            Line::Removed(text) => shown.push(format!("- {text}")),
            Line::Added(text) => shown.push(format!("+ {text}")),
            Line::Same(text) if is_near(at) => shown.push(format!("  {text}")),
            Line::Same(_) if shown.last().is_none_or(|last| last != "...") => {
                shown.push("...".to_owned());
            }
            Line::Same(_) => {}
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Difference, difference};

    #[test]
    fn fields_that_the_server_sets_are_not_compared() {
        let live =
            json!({"metadata": {"name": "a", "uid": "1", "generation": 3}, "status": {"x": 1}});
        let result = json!({"metadata": {"name": "a", "resourceVersion": "9"}});
        assert_eq!(difference(Some(&live), &result), Difference::None);
        let lines = ["+ metadata:", "+   name: a"].map(str::to_owned).to_vec();
        assert_eq!(difference(None, &result), Difference::New(lines));
    }

    #[test]
    fn difference_has_two_lines_of_context() {
        let live = json!({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6});
        let result = json!({"a": 1, "b": 2, "c": 3, "d": 4, "e": 6, "f": 6, "g": 7});
        let Difference::Lines(lines) = difference(Some(&live), &result) else {
            panic!("they differ");
        };
        assert_eq!(
            lines,
            [
                "...", "  c: 3", "  d: 4", "- e: 5", "+ e: 6", "  f: 6", "+ g: 7"
            ]
        );
    }

    #[test]
    fn values_of_a_secret_are_hidden() {
        let live = json!({"kind": "Secret", "data": {"a": "b2xk", "b": "c2FtZQ=="}});
        let result = json!({"kind": "Secret", "data": {"a": "bmV3", "b": "c2FtZQ=="}});
        let Difference::Lines(lines) = difference(Some(&live), &result) else {
            panic!("they differ");
        };
        let shown = lines.join("\n");
        assert!(
            !shown.contains("b2xk") && !shown.contains("bmV3"),
            "{shown}"
        );
        assert!(!shown.contains("c2FtZQ"), "{shown}");
        assert!(shown.contains("- ") && shown.contains("+ "), "{shown}");
        let Difference::New(lines) = difference(None, &live) else {
            panic!("it is new");
        };
        assert!(!lines.join("\n").contains("b2xk"), "{lines:?}");
    }
}
