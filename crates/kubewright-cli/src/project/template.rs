/// Puts the values in the place of their `{{names}}`.
///
/// A line that consists of one name whose value is empty goes away.
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
    fn a_line_of_nothing_goes_away_and_other_lines_stay() {
        let template = "a {{x}}\n    {{y}}\nb {{y}}.\n";
        assert_eq!(fill(template, &[("x", "1"), ("y", "")]), "a 1\nb .\n");
        assert_eq!(
            fill(template, &[("x", "1"), ("y", "2")]),
            "a 1\n    2\nb 2.\n"
        );
    }
}
