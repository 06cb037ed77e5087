//! Writing of YAML.

use serde_json::Value;
use serde_saphyr::SerializerOptions;

/// The value as one YAML document, in kubectl's style: lists are not indented, and there is no
/// document marker.
///
/// ```
/// let value = serde_json::json!({"list": ["on", 1], "text": "a\nb\n"});
/// let text = kubewright_wire::yaml::to_string(&value);
/// assert_eq!(kubewright_wire::yaml::from_str(&text)?, value);
/// # Ok::<(), kubewright_wire::yaml::YamlError>(())
/// ```
///
/// # Panics
///
/// Never: a JSON value always has a YAML form.
pub fn to_string(value: &Value) -> String {
    let options = serde_saphyr::ser_options! {
        compact_list_indent: true,
        empty_as_braces: true,
        min_fold_chars: usize::MAX,
    };
    write(value, options)
}

/// The values as one stream, with `---` between them.
///
/// # Panics
///
/// Never: a JSON value always has a YAML form.
pub fn to_string_multiple(values: &[Value]) -> String {
    let documents: Vec<String> = values.iter().map(to_string).collect();
    documents.join("---\n")
}

fn write(value: &Value, options: SerializerOptions) -> String {
    serde_saphyr::to_string_with_options(value, options)
        .expect("text keys and JSON scalars always have a YAML form")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{to_string, to_string_multiple};
    use crate::yaml::{documents, from_str};

    #[test]
    fn text_that_would_be_read_as_another_type_is_quoted() {
        let words = [
            "y",
            "No",
            "on",
            "~",
            "null",
            "12",
            "1e3",
            "0x1F",
            "0777",
            "0o7",
            "1_0",
            ".5",
            "",
            " a",
            "a: b",
            "# c",
            "- d",
            "{",
            "[",
            "*a",
            "&a",
            "!t",
            "%d",
            "@x",
            "`",
            "'",
            "\"",
            "a\nb",
            "a\n",
            "\n",
            "tab\t",
            "<<",
            "2026-01-02",
            "1:30",
            "---",
            "a #b",
            "ünï",
        ];
        for word in words {
            let value = json!({"k": word, "l": [word], word: 1});
            assert_eq!(from_str(&to_string(&value)).unwrap(), value, "{word:?}");
        }
    }

    #[test]
    fn documents_survive_a_round_trip() {
        let values = [
            json!({"a": [], "b": {}}),
            json!({"a": [{"b": 1, "c": [2]}]}),
        ];
        let text = to_string_multiple(&values);
        assert_eq!(documents(&text).unwrap(), values);
        assert_eq!(text, "a: []\nb: {}\n---\na:\n- b: 1\n  c:\n  - 2\n");
    }
}
