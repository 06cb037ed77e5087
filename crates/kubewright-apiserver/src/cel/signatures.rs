use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::types::Type;

/// One form of a function.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    /// Whether the first parameter stands before the dot.
    pub(super) is_member: bool,
    pub(super) takes: Vec<Type>,
    pub(super) gives: Type,
}

/// How many open types a signature can have.
pub(super) const OPEN_TYPES: usize = 2;

/// The forms of each function of Kubernetes 1.36: `name(parameters) result`, with the type before
/// the dot of a member in front of `:`. `A` and `B` are open.
const TABLE: &str = include_str!("signatures.txt");

/// What Kubernetes has and we do not, by name and number of arguments.
const LACKING: [(&str, Option<usize>, &str); 10] = [
    ("getDate", Some(1), "getDate() with a time zone"),
    ("getDayOfMonth", Some(1), "getDayOfMonth() with a time zone"),
    ("getDayOfWeek", Some(1), "getDayOfWeek() with a time zone"),
    ("getDayOfYear", Some(1), "getDayOfYear() with a time zone"),
    ("getFullYear", Some(1), "getFullYear() with a time zone"),
    ("getHours", Some(1), "getHours() with a time zone"),
    (
        "getMilliseconds",
        Some(1),
        "getMilliseconds() with a time zone",
    ),
    ("getMinutes", Some(1), "getMinutes() with a time zone"),
    ("getMonth", Some(1), "getMonth() with a time zone"),
    ("getSeconds", Some(1), "getSeconds() with a time zone"),
];

/// The forms of a function.
pub(super) fn signatures(name: &str) -> Option<&'static [Signature]> {
    static PARSED: LazyLock<BTreeMap<&'static str, Vec<Signature>>> = LazyLock::new(|| {
        let mut parsed: BTreeMap<&'static str, Vec<Signature>> = BTreeMap::new();
        for line in TABLE.lines() {
            if let Some((name, signature)) = read(line) {
                parsed.entry(name).or_default().push(signature);
            }
        }
        parsed
    });
    PARSED.get(name).map(Vec::as_slice)
}

/// What an expression needs that is not here, when it calls this.
pub(super) fn lacking(name: &str, arguments: usize) -> Option<&'static str> {
    let is_it = |(one, count, _): &&(&str, Option<usize>, &str)| {
        *one == name && count.is_none_or(|count| count == arguments)
    };
    LACKING.iter().find(is_it).map(|(_, _, what)| *what)
}

fn read(line: &'static str) -> Option<(&'static str, Signature)> {
    let (head, gives) = line.rsplit_once(' ')?;
    let head = head.strip_suffix(')')?;
    let (receiver, call) = match head.split_once(':').filter(|_| !head.starts_with('_')) {
        Some((receiver, call)) => (Some(receiver), call),
        None => (None, head),
    };
    let (name, parameters) = call.split_once('(')?;
    let mut takes: Vec<Type> = receiver.into_iter().filter_map(type_of).collect();
    takes.extend(split(parameters).into_iter().filter_map(type_of));
    Some((
        name,
        Signature {
            is_member: receiver.is_some(),
            takes,
            gives: type_of(gives)?,
        },
    ))
}

/// The parts between the commas that stand in no parenthesis.
fn split(text: &'static str) -> Vec<&'static str> {
    let mut depth = 0;
    let parts = text.split(move |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.filter(|part| !part.is_empty()).collect()
}

fn type_of(text: &'static str) -> Option<Type> {
    if let Some((outer, inner)) = text.split_once('(') {
        let mut inner = split(inner.strip_suffix(')')?)
            .into_iter()
            .filter_map(type_of);
        let first = inner.next()?;
        return Some(match outer {
            "list" => Type::list(first),
            "map" => Type::map(first, inner.next()?),
            "optional" => Type::optional(first),
            "type" => Type::of_type(first),
            _ => return None,
        });
    }
    Some(match text {
        "A" => Type::Param(0),
        "B" => Type::Param(1),
        "dyn" => Type::Dyn,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        own => Type::Own(own),
    })
}

#[cfg(test)]
mod tests {
    use super::{TABLE, read, signatures};

    #[test]
    fn every_line_of_the_table_reads() {
        for line in TABLE.lines() {
            assert!(read(line).is_some(), "{line}");
        }
    }

    #[test]
    fn a_member_has_its_receiver_first() {
        let of = |name: &str| &signatures(name).unwrap()[0];
        assert!(of("startsWith").is_member);
        assert_eq!(of("startsWith").takes.len(), 2);
        assert_eq!(of("lastIndexOf").takes[0].to_string(), "string");
        assert!(!of("sets.contains").is_member);
        assert_eq!(
            of("getQuery").gives.to_string(),
            "map(string, list(string))"
        );
        assert_eq!(of("_?_:_").takes.len(), 3);
    }
}
