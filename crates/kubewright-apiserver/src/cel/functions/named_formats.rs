use base64::Engine as _;

use super::times::{parse_date, parse_timestamp};
use super::urls;
use crate::cel::evaluate::Evaluated;
use crate::cel::value::Value;
use crate::kinds::NameRule;
use crate::kinds::formats::{label_value, qualified_name};

/// A format by its name, as `format.named('dns1123Label')` finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NamedFormat {
    name: &'static str,
}

const NAMES: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

pub(super) fn call(name: &str, args: &[Value]) -> Option<Evaluated> {
    Some(Ok(match (name, args) {
        ("format.named", [Value::String(name)]) => match find(name) {
            Some(format) => Value::some(Value::Format(format)),
            None => Value::Optional(None),
        },
        ("validate", [Value::Format(format), Value::String(text)]) => {
            let problems = format.problems(text);
            match problems.is_empty() {
                true => Value::Optional(None),
                false => {
                    let problems = problems.iter().map(|text| Value::text(text));
                    Value::some(Value::list(problems.collect()))
                }
            }
        }
        (name, []) => Value::Format(find(name.strip_prefix("format.")?)?),
        _ => return None,
    }))
}

fn find(name: &str) -> Option<NamedFormat> {
    let name = NAMES.iter().find(|one| **one == name)?;
    Some(NamedFormat { name })
}

impl NamedFormat {
    fn problems(self, text: &str) -> Vec<String> {
        let unless = |fits: bool, problem: &str| match fits {
            true => Vec::new(),
            false => vec![problem.to_owned()],
        };
        // What a name is made from may end in what a name may not.
        let base = match self.name.strip_suffix("Prefix") {
            Some(_) if text.len() > 1 && text.ends_with('-') => {
                text.strip_suffix('-').unwrap_or(text)
            }
            _ => text,
        };
        match self.name {
            "dns1123Label" | "dns1123LabelPrefix" => NameRule::Label.problems(base),
            "dns1123Subdomain" | "dns1123SubdomainPrefix" => NameRule::Subdomain.problems(base),
            "dns1035Label" | "dns1035LabelPrefix" => NameRule::Dns1035.problems(base),
            "qualifiedName" => qualified_name(text),
            "labelValue" => label_value(text),
            "uri" => urls::problem(text).into_iter().collect(),
            "uuid" => unless(is_uuid(text), "does not match the UUID format"),
            "byte" => {
                let decoded = base64::engine::general_purpose::STANDARD.decode(text);
                unless(decoded.is_ok() && !text.is_empty(), "invalid base64")
            }
            "date" => unless(
                text.len() == 10 && parse_date(text).is_some(),
                "invalid date",
            ),
            _ => unless(parse_timestamp(text).is_some(), "invalid datetime"),
        }
    }
}

/// Digits with or without the lines between them.
fn is_uuid(text: &str) -> bool {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let is_hex = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    is_hex && matches!(lengths.as_slice(), [32] | [8, 4, 4, 4, 12])
}
