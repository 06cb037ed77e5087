//! Formats of strings that expressions select by name (k8s.io/apiserver/pkg/cel/library/format.go).

use base64::Engine as _;
use kubewright_core::NameRule;
use kubewright_core::format::{label_value, qualified_name};

use super::time::{parse_date, parse_timestamp};
use super::url::Url;

/// A format, as `format.named('dns1123Label')` returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedFormat {
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

impl NamedFormat {
    /// The format of that name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        let name = NAMES.iter().find(|known| **known == name)?;
        Some(Self { name })
    }

    /// The reasons why a string does not have the format; none if it has.
    pub(crate) fn problems(self, text: &str) -> Vec<String> {
        // A prefix of a generated name may end in a dash, which a whole name may not.
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
            "uri" => Url::parse(text).err().into_iter().collect(),
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

fn unless(is_valid: bool, problem: &str) -> Vec<String> {
    if is_valid {
        Vec::new()
    } else {
        vec![problem.to_owned()]
    }
}

/// 32 hexadecimal digits, with or without dashes between the groups.
fn is_uuid(text: &str) -> bool {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let is_hex = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    is_hex && matches!(lengths.as_slice(), [32] | [8, 4, 4, 4, 12])
}
