//! A copy of the struct of a kind, for another version in another module.

use std::collections::BTreeSet;

use syn::spanned::Spanned;
use syn::{Field, Fields, Item, ItemStruct, Visibility};

use super::imports::imported;
use super::kinds::{derived, settings};
use super::names::{names_in_attributes, names_in_field, names_in_struct};
use super::{DerivedKind, Source};

/// A copy of the struct of a kind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TypeCopy {
    /// The lines that import the names of the struct.
    pub(crate) imports: Vec<String>,
    /// The text of the struct in its new version.
    pub(crate) item: String,
    /// The name of the struct.
    pub(crate) name: String,
    /// The names of its fields.
    pub(crate) fields: Vec<String>,
    /// Whether objects of the kind have a status.
    pub(crate) has_status: bool,
    /// Whether other crates can use the kind.
    pub(crate) is_public: bool,
}

/// Why a struct cannot be copied, and the line of the cause.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CopyError {
    pub(crate) line: usize,
    pub(crate) reason: String,
}

impl CopyError {
    fn at(item: &impl Spanned, reason: impl Into<String>) -> Self {
        Self {
            line: item.span().start().line,
            reason: reason.into(),
        }
    }

    fn private(item: &impl Spanned, name: impl std::fmt::Display) -> Self {
        Self::at(item, format!("`{name}` is private: make it `pub(crate)`"))
    }
}

/// Copies the struct that derives `kind` in the file of `module`, for another module and another
/// version.
pub(crate) fn copy_type(
    source: &Source,
    module: &str,
    kind: &DerivedKind,
    version: &str,
) -> Result<TypeCopy, CopyError> {
    let item = source.syntax.items.iter().find_map(|item| match item {
        Item::Struct(item) if derived(&item.attrs).as_ref() == Some(kind) => Some(item),
        _ => None,
    });
    let item = item.ok_or_else(|| CopyError {
        line: 1,
        reason: "the type is not a struct at the top level of the file".to_owned(),
    })?;
    let Fields::Named(fields) = &item.fields else {
        return Err(CopyError::at(item, "its fields have no names"));
    };
    let private = fields
        .named
        .iter()
        .find(|field| !is_visible_elsewhere(&field.vis, module));
    if let Some(field) = private {
        let reason = format!(
            "the field `{}` is private: make it `pub`",
            field_name(field)
        );
        return Err(CopyError::at(field, reason));
    }
    check_paths(source, item)?;
    Ok(TypeCopy {
        imports: imports(source, module, item)?,
        item: in_version(source, item, version),
        name: item.ident.to_string(),
        fields: fields.named.iter().map(field_name).collect(),
        has_status: settings(&item.attrs)
            .iter()
            .any(|setting| setting.name == "status"),
        is_public: matches!(item.vis, Visibility::Public(_)),
    })
}

/// Returns the lines that import the names of the struct into another module.
fn imports(source: &Source, module: &str, item: &ItemStruct) -> Result<Vec<String>, CopyError> {
    let names = names_in_struct(source, item);
    let mut imports = imported(&source.syntax.items, module, &names);
    for own in &source.syntax.items {
        if let Item::Mod(inner) = own
            && !is_visible_elsewhere(&inner.vis, module)
            && imports
                .iter()
                .any(|line| line.starts_with(&format!("use {module}::{}::", inner.ident)))
        {
            return Err(CopyError::private(own, &inner.ident));
        }
        let Some((name, visibility)) = name_and_visibility(own) else {
            continue;
        };
        if !names.contains(&name) || item.ident == name {
            continue;
        }
        if !is_visible_elsewhere(visibility, module) {
            return Err(CopyError::private(own, name));
        }
        imports.push(format!("use {module}::{name};"));
    }
    Ok(imports)
}

/// Whether an item of the module is visible in other modules. Private items of the crate's root are
/// visible in the whole crate.
fn is_visible_elsewhere(visibility: &Visibility, module: &str) -> bool {
    module == "crate" || !matches!(visibility, Visibility::Inherited)
}

/// Checks that the struct has no relative paths, which another module cannot use, and that its type
/// has the name of the kind, which the conversion uses.
fn check_paths(source: &Source, item: &ItemStruct) -> Result<(), CopyError> {
    let settings = settings(&item.attrs);
    let renamed = settings
        .iter()
        .find(|setting| setting.name == "root" || setting.name == "struct");
    if let Some(renamed) = renamed {
        return Err(CopyError {
            line: renamed.span.start().line,
            reason: format!(
                "`{} = {:?}` gives the type another name than the kind's: remove it",
                renamed.name, renamed.value
            ),
        });
    }
    if let Some(word) = relative_path(&names_in_attributes(item)) {
        let reason = format!("its attributes have a path with `{word}::`: use `crate::` instead");
        return Err(CopyError::at(item, reason));
    }
    for field in &item.fields {
        if let Some(word) = relative_path(&names_in_field(source, field)) {
            let reason = format!(
                "the field `{}` has a path with `{word}::`: use `crate::` instead",
                field_name(field)
            );
            return Err(CopyError::at(field, reason));
        }
    }
    Ok(())
}

/// Returns the start of a relative path, if one of the names is one.
fn relative_path(names: &BTreeSet<String>) -> Option<&'static str> {
    ["self", "super"]
        .into_iter()
        .find(|word| names.contains(*word))
}

fn field_name(field: &Field) -> String {
    let name = field.ident.as_ref();
    name.map(ToString::to_string).unwrap_or_default()
}

/// Returns the text of the struct with another value of `version`.
fn in_version(source: &Source, item: &ItemStruct, version: &str) -> String {
    let whole = source.range(item.span());
    let text = |range: std::ops::Range<usize>| source.text.get(range).unwrap_or_default();
    let settings = settings(&item.attrs);
    let Some(setting) = settings.iter().find(|setting| setting.name == "version") else {
        return text(whole).to_owned();
    };
    let value = source.range(setting.span);
    format!(
        "{}\"{version}\"{}",
        text(whole.start..value.start),
        text(value.end..whole.end)
    )
}

fn name_and_visibility(item: &Item) -> Option<(String, &Visibility)> {
    let (name, visibility) = match item {
        Item::Const(item) => (&item.ident, &item.vis),
        Item::Enum(item) => (&item.ident, &item.vis),
        Item::Fn(item) => (&item.sig.ident, &item.vis),
        Item::Mod(item) => (&item.ident, &item.vis),
        Item::Struct(item) => (&item.ident, &item.vis),
        Item::Type(item) => (&item.ident, &item.vis),
        _ => return None,
    };
    Some((name.to_string(), visibility))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{CopyError, TypeCopy, copy_type};
    use crate::source::{Source, derived_kinds};

    const SITE: &str = r#"
use kubewright::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

use super::parts::Part;

/// A site; see `reconcile`.
#[derive(CustomResource, Clone)]
#[kube(group = "ex.io", version = "v1", kind = "Site", status = "SiteStatus")]
pub struct SiteSpec {
    #[serde(default = "default_size")]
    pub size: Size,
    pub labels: BTreeMap<String, Part>, // by name
}

pub struct SiteStatus {}

pub struct Size(u32);

pub(crate) fn default_size() -> Size {
    Size(1)
}

async fn reconcile() {}

fn labels() {}
"#;

    fn copy(text: &str) -> Result<TypeCopy, CopyError> {
        let source = Source::parse(Path::new("site.rs"), text.to_owned()).unwrap();
        let kind = derived_kinds(&source).remove(0);
        copy_type(&source, "crate::api::site", &kind, "v2")
    }

    #[test]
    fn copy_has_the_new_version_and_imports_only_what_it_uses() {
        let copy = copy(SITE).unwrap();
        assert_eq!(
            copy.imports,
            [
                "use kubewright::prelude::*;",
                "use std::collections::BTreeMap;",
                "use crate::api::parts::Part;",
                "use crate::api::site::SiteStatus;",
                "use crate::api::site::Size;",
                "use crate::api::site::default_size;",
            ]
        );
        assert!(copy.item.starts_with("/// A site"), "{}", copy.item);
        assert!(copy.item.contains(r#"version = "v2", kind = "Site""#));
        assert!(copy.item.ends_with("// by name\n}"), "{}", copy.item);
        assert_eq!(copy.fields, ["size", "labels"]);
        assert!(copy.has_status && copy.is_public);
    }

    #[test]
    fn item_that_another_module_cannot_use_is_an_error_with_its_line() {
        let private = SITE.replace("pub(crate) fn default_size", "fn default_size");
        let error = copy(&private).unwrap_err();
        assert_eq!(error.line, 20);
        assert!(error.reason.contains("`default_size` is private"));
        let private = SITE.replace("pub size: Size", "size: Size");
        let error = copy(&private).unwrap_err();
        assert_eq!(error.line, 11);
        assert!(error.reason.contains("the field `size` is private"));
        let tuple =
            r#"#[kube(group = "ex.io", version = "v1", kind = "Site")] pub struct SiteSpec(u32);"#;
        let error = copy(tuple).unwrap_err();
        assert_eq!(error.reason, "its fields have no names");
    }

    #[test]
    fn relative_path_is_an_error_with_its_line() {
        let field = SITE.replace("pub size: Size", "pub size: super::Size");
        let error = copy(&field).unwrap_err();
        assert_eq!(error.line, 11);
        assert!(
            error
                .reason
                .contains("the field `size` has a path with `super::`")
        );
        for (part, by) in [
            (r#"default = "default_size""#, r#"default = "self::size""#),
            ("version =", "validation = self::rule(), version ="),
            (r#""SiteStatus""#, r#""super::SiteStatus""#),
        ] {
            let error = copy(&SITE.replace(part, by)).unwrap_err();
            assert!(error.reason.contains("use `crate::` instead"), "{by}");
        }
        let renamed = SITE.replace("version =", r#"root = "Page", version ="#);
        let error = copy(&renamed).unwrap_err();
        assert_eq!(error.line, 9);
        assert!(error.reason.contains(r#"`root = "Page"`"#));
        let inner = format!("mod parts {{}}\n{}", SITE.replace("super::parts", "parts"));
        let error = copy(&inner).unwrap_err();
        assert_eq!(error.line, 1);
        assert!(error.reason.contains("`parts` is private"));
    }

    #[test]
    fn names_in_rules_and_in_strings_are_imported() {
        let text = SITE
            .replace(
                "version =",
                r#"validation = Rule::new("self.size > 1").message(words()), version ="#,
            )
            .replace(
                "    pub size",
                "    #[schemars(with = \"BTreeSet<Step>\")]\n    pub size",
            );
        let text = format!(
            "use kube::core::cel::Rule;\n{text}\npub(crate) fn words() {{}}\npub struct Step;"
        );
        let imports = copy(&text).unwrap().imports;
        for line in [
            "use kube::core::cel::Rule;",
            "use std::collections::BTreeSet;",
            "use crate::api::site::words;",
            "use crate::api::site::Step;",
        ] {
            assert!(imports.contains(&line.to_owned()), "{line} in {imports:?}");
        }
        let private = text.replace("pub(crate) fn words", "fn words");
        let error = copy(&private).unwrap_err();
        assert!(error.reason.contains("`words` is private"));
    }
}
