//! The file format of schemas, and the schema of Kubernetes' own kinds.

use std::io::{Read, Write};

use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use kubewright_core::Kind;
use serde::{Deserialize, Serialize};

use super::types::{Schema, Type, TypeId};

/// An error of reading or writing a table of types.
#[derive(Debug, thiserror::Error)]
#[error("{action} the table of types; write it anew with `cargo xtask tables`")]
pub struct TableError {
    action: &'static str,
    source: std::io::Error,
}

#[derive(Serialize, Deserialize)]
struct Table {
    types: Vec<Type>,
    /// Group, version, kind and id of the type.
    kinds: Vec<(String, String, String, TypeId)>,
}

impl Schema {
    /// The types of Kubernetes' own kinds, which are decoded at the first call.
    ///
    /// # Panics
    ///
    /// Never: a test reads the table that is compiled in.
    #[cfg(feature = "tables")]
    pub fn builtin() -> &'static Self {
        static BUILTIN: std::sync::LazyLock<Schema> = std::sync::LazyLock::new(|| {
            Schema::decode(include_bytes!("../../tables/types.json.gz"))
                .expect("a test reads the table that is compiled in")
        });
        &BUILTIN
    }

    /// Reads what [`Schema::encode`] wrote.
    pub fn decode(bytes: &[u8]) -> Result<Self, TableError> {
        let failed = |source| TableError {
            action: "unpack",
            source,
        };
        let mut text = Vec::new();
        GzDecoder::new(bytes)
            .read_to_end(&mut text)
            .map_err(failed)?;
        let table: Table = serde_json::from_slice(&text).map_err(|error| failed(error.into()))?;
        let kinds = table
            .kinds
            .into_iter()
            .map(|(group, version, kind, id)| (Kind::new(group, version, kind), id))
            .collect();
        Ok(Self {
            types: table.types,
            kinds,
        })
    }

    /// Encodes the schema as one compressed file; equal schemas give equal bytes.
    pub fn encode(&self) -> Result<Vec<u8>, TableError> {
        let failed = |source| TableError {
            action: "pack",
            source,
        };
        let kinds = self.kinds.iter().map(|(kind, id)| {
            let (group, version) = (kind.group().to_owned(), kind.version().to_owned());
            (group, version, kind.kind.clone(), *id)
        });
        let table = Table {
            types: self.types.clone(),
            kinds: kinds.collect(),
        };
        let text = serde_json::to_vec(&table).map_err(|error| failed(error.into()))?;
        let mut packed = GzBuilder::new()
            .mtime(0)
            .write(Vec::new(), Compression::best());
        packed.write_all(&text).map_err(failed)?;
        packed.finish().map_err(failed)
    }
}
