//! The table of protobuf layouts.

use std::collections::BTreeMap;
use std::error::Error;

use serde::Deserialize;

use crate::go;

/// The output of the Go program `layouts`.
#[derive(Deserialize)]
struct Table {
    kinds: Vec<Kind>,
    messages: Vec<Message>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kind {
    api_version: String,
    kind: String,
    message: usize,
}

#[derive(Deserialize)]
struct Message {
    kind: usize,
    fields: Vec<Field>,
}

#[derive(Deserialize)]
struct Field {
    part: usize,
    number: usize,
    name: String,
    r#type: String,
    place: usize,
    shape: String,
    written: String,
}

/// The types of fields, in the order of their codes. Parts have no code.
const TYPES: [&str; 15] = [
    "text",
    "bytes",
    "bool",
    "int",
    "double",
    "time",
    "microTime",
    "quantity",
    "intOrString",
    "raw",
    "texts",
    "schemaOrSchemas",
    "schemaOrBool",
    "schemaOrTexts",
    "message",
];
const SHAPES: [&str; 4] = ["one", "part", "list", "map"];
const PRESENCES: [&str; 4] = ["p", "z", "n", "v"];

/// Returns the layouts of all kinds in responses and requests, in the format that
/// `kubewright_wire::protobuf::Layouts` reads without parsing.
pub(super) fn pack() -> Result<Vec<u8>, Box<dyn Error>> {
    let table: Table = serde_json::from_slice(&go::run("layouts", &[])?)?;
    let mut texts = Texts::default();
    let (mut kinds, mut messages, mut fields) = (Vec::new(), Vec::new(), Vec::new());
    for kind in &table.kinds {
        let (api_version, name) = (texts.add(&kind.api_version)?, texts.add(&kind.kind)?);
        for number in [api_version, name, u16::try_from(kind.message)?] {
            kinds.extend(number.to_le_bytes());
        }
    }
    let mut count: u16 = 0;
    for message in &table.messages {
        messages.extend(count.to_le_bytes());
        messages.push(u8::try_from(message.fields.len())?);
        messages.push(u8::try_from(message.kind)?);
        for field in &message.fields {
            count += 1;
            fields.extend(entry(field, &mut texts)?);
        }
    }
    let counts = [table.kinds.len(), table.messages.len(), usize::from(count)];
    let mut packed = Vec::new();
    for count in counts {
        packed.extend(u16::try_from(count)?.to_le_bytes());
    }
    for section in [kinds, messages, fields, texts.bytes] {
        packed.extend(section);
    }
    Ok(packed)
}

fn entry(field: &Field, texts: &mut Texts) -> Result<[u8; 8], Box<dyn Error>> {
    let is_part = field.r#type == "part";
    let (code, shape) = if is_part {
        (0, "part")
    } else {
        (index_in(&TYPES, &field.r#type)?, field.shape.as_str())
    };
    if field.place >= 1 << 11 {
        return Err(format!("the index of message {} has more than 11 bits", field.place).into());
    }
    let name = texts.add(&field.name)?.to_le_bytes();
    let packed = u16::try_from(code << 11 | field.place)?.to_le_bytes();
    let flags = index_in(&SHAPES, shape)? | index_in(&PRESENCES, &field.written)? << 2;
    Ok([
        u8::try_from(field.number)?,
        u8::try_from(field.part)?,
        name[0],
        name[1],
        packed[0],
        packed[1],
        u8::try_from(flags)?,
        0,
    ])
}

fn index_in(words: &[&str], word: &str) -> Result<usize, Box<dyn Error>> {
    let found = words.iter().position(|known| *known == word);
    found.ok_or_else(|| format!("{word} is not in {words:?}").into())
}

/// Strings, each stored once.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    offsets: BTreeMap<String, u16>,
}

impl Texts {
    fn add(&mut self, text: &str) -> Result<u16, Box<dyn Error>> {
        if let Some(offset) = self.offsets.get(text) {
            return Ok(*offset);
        }
        let offset = u16::try_from(self.bytes.len())?;
        self.bytes.push(u8::try_from(text.len())?);
        self.bytes.extend(text.bytes());
        self.offsets.insert(text.to_owned(), offset);
        Ok(offset)
    }
}
