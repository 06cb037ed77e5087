//! Templates with `{{names}}`.

/// Replaces each `{{name}}` with its value.
///
/// A line that consists of one name with an empty value is removed.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = template.to_owned();
    for (name, value) in values {
        let slot = format!("{{{{{name}}}}}");
        if value.is_empty() {
            text = without_lines_of(&text, &slot);
        }
        text = text.replace(&slot, value);
    }
    text
}

fn without_lines_of(text: &str, slot: &str) -> String {
    text.split_inclusive('\n')
        .filter(|line| line.trim() != slot)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn line_that_is_only_an_empty_value_is_removed() {
        let template = "a {{x}}\n    {{y}}\nb {{y}}.\n";
        assert_eq!(fill(template, &[("x", "1"), ("y", "")]), "a 1\nb .\n");
        assert_eq!(
            fill(template, &[("x", "1"), ("y", "2")]),
            "a 1\n    2\nb 2.\n"
        );
    }
}
