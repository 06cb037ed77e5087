//! Reading of YAML.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use serde_saphyr::granit_parser::{
    Event, Options, Parser, ScalarStyle, ScanError, Span, StrInput, Tag,
};

use super::scalar::{ScalarTag, resolve, resolve_tagged};

/// An error of reading YAML.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum YamlError {
    /// The text is not YAML.
    #[error("read YAML: the text does not parse; fix it at the place named")]
    Syntax(#[source] ScanError),
    /// The YAML cannot be converted to JSON as Kubernetes does.
    #[error("read YAML at line {line}: {what}")]
    Content {
        /// The line, from 1.
        line: usize,
        /// The error and its solution.
        what: String,
    },
}

/// The deepest nesting, which limits the recursion; objects of Kubernetes have much less.
const MAX_DEPTH: usize = 200;
/// The most values of a stream, which limits the expansion of aliases.
const MAX_VALUES: usize = 1_000_000;
/// The most bytes that anchors and aliases of one document copy: the limit of a request body.
const MAX_COPIED: usize = 3 * 1024 * 1024;

/// Reads a stream of one document; an empty one is null.
pub fn from_str(text: &str) -> Result<Value, YamlError> {
    let mut documents = documents(text)?;
    match documents.len() {
        0 => Ok(Value::Null),
        1 => Ok(documents.remove(0)),
        count => Err(YamlError::Content {
            line: 1,
            what: format!("one document is expected, there are {count}; send them one by one"),
        }),
    }
}

/// Reads every document of a stream that is not empty.
///
/// ```
/// let documents = kubewright_wire::yaml::documents("a: on\n---\n- 0x10\n---\n")?;
/// assert_eq!(documents, [serde_json::json!({"a": true}), serde_json::json!([16])]);
/// # Ok::<(), kubewright_wire::yaml::YamlError>(())
/// ```
pub fn documents(text: &str) -> Result<Vec<Value>, YamlError> {
    // Cargo unifies features: another crate of the build may have enabled comments.
    let mut options = Options::default();
    options.set_emit_comments(false);
    let mut reader = Reader {
        events: Parser::new_from_str_with_options(text, options),
        anchors: BTreeMap::new(),
        values: 0,
        copied: 0,
    };
    let mut documents = Vec::new();
    while let Some((event, span)) = reader.next()? {
        match event {
            Event::StreamStart | Event::DocumentEnd | Event::StreamEnd => {}
            Event::DocumentStart(..) => {
                reader.anchors.clear();
                reader.copied = 0;
            }
            event => match reader.value(event, span, 0)? {
                Value::Null => {}
                document => documents.push(document),
            },
        }
    }
    Ok(documents)
}

struct Reader<'input> {
    events: Parser<'input, StrInput<'input>>,
    anchors: BTreeMap<usize, Anchored>,
    values: usize,
    /// The bytes that anchors and aliases of the document have copied.
    copied: usize,
}

/// The value of an anchor, and its size.
struct Anchored {
    value: Value,
    extent: Extent,
}

/// The size of a value.
#[derive(Clone, Copy, Default)]
struct Extent {
    /// The approximate size as JSON.
    bytes: usize,
    /// The levels below the value.
    height: usize,
    /// The number of values, including itself.
    values: usize,
}

impl<'input> Reader<'input> {
    /// The next event that is not a comment.
    fn next(&mut self) -> Result<Option<(Event<'input>, Span)>, YamlError> {
        self.events
            .find(|event| !matches!(event, Ok((Event::Comment(..), _))))
            .transpose()
            .map_err(YamlError::Syntax)
    }

    fn expect_next(&mut self, span: Span) -> Result<(Event<'input>, Span), YamlError> {
        self.next()?
            .ok_or_else(|| content(span, "the text ends inside a collection"))
    }

    fn value(
        &mut self,
        event: Event<'input>,
        span: Span,
        depth: usize,
    ) -> Result<Value, YamlError> {
        self.values += 1;
        if depth > MAX_DEPTH || self.values > MAX_VALUES {
            return Err(too_large(span));
        }
        let (anchor, value) = match event {
            Event::Alias(anchor) => return self.alias(anchor, span, depth),
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, scalar(&text, style, tag.as_deref(), span)?)
            }
            Event::SequenceStart(_, anchor, _) => (anchor, self.sequence(span, depth)?),
            Event::MappingStart(_, anchor, _) => (anchor, self.mapping(span, depth)?),
            _ => return Err(content(span, "a value is expected here")),
        };
        if anchor != 0 {
            let extent = measure(&value);
            self.count_copy(extent, span)?;
            let anchored = Anchored {
                value: value.clone(),
                extent,
            };
            self.anchors.insert(anchor, anchored);
        }
        Ok(value)
    }

    fn alias(&mut self, anchor: usize, span: Span, depth: usize) -> Result<Value, YamlError> {
        let absent = || content(span, "an alias is inside the value that it refers to");
        let extent = self.anchors.get(&anchor).ok_or_else(absent)?.extent;
        self.values += extent.values;
        if depth + extent.height > MAX_DEPTH || self.values > MAX_VALUES {
            return Err(too_large(span));
        }
        self.count_copy(extent, span)?;
        let anchored = self.anchors.get(&anchor).ok_or_else(absent)?;
        Ok(anchored.value.clone())
    }

    /// Adds a copy to the limit, before it is made.
    fn count_copy(&mut self, extent: Extent, span: Span) -> Result<(), YamlError> {
        self.copied += extent.bytes;
        if self.copied > MAX_COPIED {
            return Err(too_large(span));
        }
        Ok(())
    }

    fn sequence(&mut self, span: Span, depth: usize) -> Result<Value, YamlError> {
        let mut items = Vec::new();
        loop {
            match self.expect_next(span)? {
                (Event::SequenceEnd, _) => return Ok(Value::Array(items)),
                (event, span) => items.push(self.value(event, span, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, span: Span, depth: usize) -> Result<Value, YamlError> {
        let mut fields = Map::new();
        let mut merged = Vec::new();
        loop {
            let (event, key_span) = self.expect_next(span)?;
            if event == Event::MappingEnd {
                break;
            }
            let is_merge = is_merge_key(&event);
            let key = self.value(event, key_span, depth + 1)?;
            let (value_event, value_span) = self.expect_next(key_span)?;
            let value = self.value(value_event, value_span, depth + 1)?;
            if is_merge {
                merged.push((value, value_span));
                continue;
            }
            // The last of equal keys wins, as in the library of kube-apiserver.
            fields.insert(key_text(key, key_span)?, value);
        }
        for (value, span) in merged {
            merge_into(&mut fields, value, span)?;
        }
        Ok(Value::Object(fields))
    }
}

fn scalar(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    span: Span,
) -> Result<Value, YamlError> {
    let wanted = match tag.map(|tag| (tag.handle(), tag.suffix())) {
        None if style == ScalarStyle::Plain => return Ok(resolve(text)),
        Some(("tag:yaml.org,2002:", suffix)) => match suffix {
            "bool" => ScalarTag::Bool,
            "int" => ScalarTag::Int,
            "float" => ScalarTag::Float,
            "null" => ScalarTag::Null,
            _ => ScalarTag::Text,
        },
        _ => ScalarTag::Text,
    };
    resolve_tagged(text, wanted).ok_or_else(|| {
        content(
            span,
            &format!("{text:?} does not match its tag; remove the tag"),
        )
    })
}

fn is_merge_key(event: &Event<'_>) -> bool {
    matches!(event, Event::Scalar(text, ScalarStyle::Plain, _, None) if text == "<<")
}

/// Adds the fields of a merged mapping that the mapping itself does not have.
fn merge_into(fields: &mut Map<String, Value>, value: Value, span: Span) -> Result<(), YamlError> {
    match value {
        Value::Object(more) => {
            for (name, value) in more {
                fields.entry(name).or_insert(value);
            }
            Ok(())
        }
        Value::Array(several) => several
            .into_iter()
            .try_for_each(|mapping| merge_into(fields, mapping, span)),
        _ => Err(content(span, "a merge key needs a mapping")),
    }
}

fn key_text(key: Value, span: Span) -> Result<String, YamlError> {
    match key {
        Value::String(text) => Ok(text),
        Value::Bool(_) | Value::Number(_) => Ok(key.to_string()),
        _ => Err(content(span, "a key must be text; quote it")),
    }
}

fn measure(value: &Value) -> Extent {
    let add = |sum: Extent, inner: Extent| Extent {
        bytes: sum.bytes + inner.bytes + 1,
        height: sum.height.max(inner.height + 1),
        values: sum.values + inner.values,
    };
    let single = |bytes| Extent {
        bytes,
        height: 0,
        values: 1,
    };
    match value {
        Value::Array(items) => items.iter().map(measure).fold(single(2), add),
        Value::Object(fields) => {
            let names = fields.keys().map(|name| name.len() + 3).sum::<usize>();
            fields.values().map(measure).fold(single(2 + names), add)
        }
        Value::String(text) => single(text.len() + 2),
        Value::Null | Value::Bool(_) | Value::Number(_) => single(4),
    }
}

fn too_large(span: Span) -> YamlError {
    content(span, "nested too deeply or too large; split the document")
}

fn content(span: Span, what: &str) -> YamlError {
    YamlError::Content {
        line: span.start.line(),
        what: what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{documents, from_str};

    #[test]
    fn keys_are_text_and_quoted_scalars_stay_text() {
        let value = from_str("y: 1\n2: a\n'on': \"yes\"\nk: !!str 12\n").unwrap();
        assert_eq!(value, json!({"true": 1, "2": "a", "on": "yes", "k": "12"}));
    }

    #[test]
    fn anchors_and_merge_keys_are_expanded() {
        let text = "base: &b {a: 1, c: 2}\nuse:\n  <<: *b\n  c: 3\nlist: [*b]\n";
        let value = from_str(text).unwrap();
        assert_eq!(value["use"], json!({"a": 1, "c": 3}));
        assert_eq!(value["list"], json!([{"a": 1, "c": 2}]));
    }

    #[test]
    fn empty_documents_are_skipped() {
        let text = "# only a comment\n---\na: 1\n---\n---\nb: |\n  x\n  y\n";
        assert_eq!(
            documents(text).unwrap(),
            [json!({"a": 1}), json!({"b": "x\ny\n"})]
        );
    }

    #[test]
    fn error_contains_the_line() {
        let error = from_str("a: 1\n? [1]\n: 2\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "read YAML at line 2: a key must be text; quote it"
        );
        assert!(from_str("a: [1").is_err());
    }

    #[test]
    fn nested_aliases_beyond_the_limit_are_an_error() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for n in 1..9 {
            let item = format!("*a{}", n - 1);
            text.push_str(&format!("a{n}: &a{n} [{}]\n", vec![item; 10].join(", ")));
        }
        assert!(from_str(&text).is_err());
        assert!(from_str(&"[".repeat(5000)).is_err());
    }

    #[test]
    fn aliases_that_copy_more_than_the_limit_are_an_error() {
        let long = "x".repeat(100_000);
        let uses = |count| format!("a: &a {long}\nl: [{}]\n", vec!["*a"; count].join(", "));
        assert!(from_str(&uses(30)).is_ok());
        assert!(from_str(&uses(31)).is_err());
        let documents_apart = format!("{}---\n{}", uses(30), uses(30));
        assert_eq!(documents(&documents_apart).unwrap().len(), 2);
        let nested = format!("{}{long}{}", "&a [".repeat(50), "]".repeat(50));
        assert!(from_str(&nested).is_err());
    }

    #[test]
    fn aliases_that_nest_too_deeply_are_an_error() {
        let mut text = String::from("a0: &a0 x\n");
        for n in 1..6 {
            let inner = format!("{}*a{}{}", "[".repeat(50), n - 1, "]".repeat(50));
            text.push_str(&format!("a{n}: &a{n} {inner}\n"));
            // The document itself is one level, and 200 are allowed.
            assert_eq!(from_str(&text).is_ok(), n < 4, "{n}");
        }
    }
}
