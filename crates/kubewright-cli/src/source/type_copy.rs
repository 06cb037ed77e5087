use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::{Attribute, Field, Fields, Item, ItemStruct, Meta, Visibility};

use super::imports::imported;
use super::kinds::{derived, settings};
use super::{DerivedKind, Source};

/// What another version of a kind begins with: the struct of the version that is there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Twin {
    /// The lines that bring in the names which the struct uses.
    pub(crate) imports: Vec<String>,
    /// The struct's text, in its new version.
    pub(crate) item: String,
    /// The struct's name.
    pub(crate) name: String,
    /// The names of its fields.
    pub(crate) fields: Vec<String>,
    /// Whether objects of the kind have a status.
    pub(crate) has_status: bool,
    /// Whether other crates may use the kind.
    pub(crate) is_public: bool,
}

/// Why there is no twin: in which line, and what stands in the way.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hindrance {
    pub(crate) line: usize,
    pub(crate) why: String,
}

/// Copies the struct that derives `kind` in a file, which is the module of that path, for another
/// module and another version.
pub(crate) fn twin(
    source: &Source,
    module: &str,
    kind: &DerivedKind,
    version: &str,
) -> Result<Twin, Hindrance> {
    let item = source.syntax.items.iter().find_map(|item| match item {
        Item::Struct(item) if derived(&item.attrs).as_ref() == Some(kind) => Some(item),
        _ => None,
    });
    let item = item.ok_or_else(|| Hindrance {
        line: 1,
        why: "the type is no struct at the file's outermost level".to_owned(),
    })?;
    let Fields::Named(fields) = &item.fields else {
        return Err(hindrance(item, "its fields have no names"));
    };
    // What is private in the crate's root is seen by all modules below it.
    let is_root = module == "crate";
    let private = fields
        .named
        .iter()
        .find(|field| !is_root && matches!(field.vis, Visibility::Inherited));
    if let Some(field) = private {
        let why = format!(
            "the field `{}` is private: make it `pub`",
            field_name(field)
        );
        return Err(hindrance(field, why));
    }
    refuse_untold(source, item)?;
    let names = names(source, item);
    let mut imports = imported(&source.syntax.items, module, &names);
    for own in &source.syntax.items {
        if let Item::Mod(inner) = own
            && !is_root
            && matches!(inner.vis, Visibility::Inherited)
            && imports
                .iter()
                .any(|line| line.starts_with(&format!("use {module}::{}::", inner.ident)))
        {
            let why = format!("`{}` is private: make it `pub(crate)`", inner.ident);
            return Err(hindrance(own, why));
        }
        let Some((name, visibility)) = named(own) else {
            continue;
        };
        if !names.contains(&name) || item.ident == name {
            continue;
        }
        if !is_root && matches!(visibility, Visibility::Inherited) {
            let why = format!("`{name}` is private: make it `pub(crate)`");
            return Err(hindrance(own, why));
        }
        imports.push(format!("use {module}::{name};"));
    }
    let settings = settings(&item.attrs);
    Ok(Twin {
        imports,
        item: in_version(source, item, version),
        name: item.ident.to_string(),
        fields: fields.named.iter().map(field_name).collect(),
        has_status: settings.iter().any(|setting| setting.name == "status"),
        is_public: matches!(item.vis, Visibility::Public(_)),
    })
}

/// Refuses what a copy in another module would not find, or what the conversion would not name.
fn refuse_untold(source: &Source, item: &ItemStruct) -> Result<(), Hindrance> {
    let settings = settings(&item.attrs);
    let root = settings
        .iter()
        .find(|one| one.name == "root" || one.name == "struct");
    if let Some(root) = root {
        let why = format!(
            "`{} = {:?}` gives the type another name than the kind's: take it out",
            root.name, root.value
        );
        return Err(Hindrance {
            line: root.span.start().line,
            why,
        });
    }
    let mut above = BTreeSet::new();
    names_above(item, &mut above);
    if let Some(word) = relative(&above) {
        let why = format!("its attributes name a path of `{word}::`: begin it with `crate::`");
        return Err(hindrance(item, why));
    }
    for field in &item.fields {
        let mut names = BTreeSet::new();
        names_in_field(source, field, &mut names);
        if let Some(word) = relative(&names) {
            let why = format!(
                "the field `{}` names a path of `{word}::`: begin it with `crate::`",
                field_name(field)
            );
            return Err(hindrance(field, why));
        }
    }
    Ok(())
}

/// The word among the names that means something else in another module.
fn relative(names: &BTreeSet<String>) -> Option<&'static str> {
    ["self", "super"]
        .into_iter()
        .find(|word| names.contains(*word))
}

fn hindrance(at: &impl syn::spanned::Spanned, why: impl Into<String>) -> Hindrance {
    Hindrance {
        line: at.span().start().line,
        why: why.into(),
    }
}

fn field_name(field: &Field) -> String {
    let name = field.ident.as_ref();
    name.map(ToString::to_string).unwrap_or_default()
}

/// The struct's own text, but for the value of `version`.
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

/// The names that the struct refers to: in the types of its fields, in its derives, and where an
/// attribute names a type, a constant or a function.
fn names(source: &Source, item: &ItemStruct) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    names_above(item, &mut names);
    for field in &item.fields {
        names_in_field(source, field, &mut names);
    }
    names
}

/// The names in the struct's own attributes.
fn names_above(item: &ItemStruct, names: &mut BTreeSet<String>) {
    for attribute in &item.attrs {
        names_in_attribute(attribute, names);
    }
    for setting in settings(&item.attrs) {
        if setting.name == "status" || setting.name == "derive" {
            names_in_type(setting.value.parse().unwrap_or_default(), names);
        }
    }
}

fn names_in_field(source: &Source, field: &Field, names: &mut BTreeSet<String>) {
    for attribute in &field.attrs {
        names_in_attribute(attribute, names);
    }
    let range = source.range(field.ty.span());
    let text = source.text.get(range).unwrap_or_default();
    names_in_type(text.parse().unwrap_or_default(), names);
}

fn names_in_type(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                names.insert(name.to_string());
            }
            TokenTree::Group(group) => names_in_type(group.stream(), names),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn names_in_attribute(attribute: &Attribute, names: &mut BTreeSet<String>) {
    let Meta::List(list) = &attribute.meta else {
        return;
    };
    // `kube` has texts for names of Kubernetes'; all others that take texts mean paths of Rust.
    match list.path.is_ident("kube") {
        true => names_in_rules(list.tokens.clone(), names),
        false => names_in_settings(list.tokens.clone(), names),
    }
}

/// The names in the code of `validation = Rule::new(..)`.
fn names_in_rules(tokens: TokenStream, names: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_comma =
        |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',');
    for setting in tokens.split(is_comma) {
        if let [TokenTree::Ident(name), TokenTree::Punct(_), code @ ..] = setting
            && (name == "validation" || name == "rule")
        {
            names_in_code(code.iter().cloned().collect(), names);
        }
    }
}

/// The names that stand alone or begin a path; methods and what follows in a path are another's.
fn names_in_code(code: TokenStream, names: &mut BTreeSet<String>) {
    let mut is_within = false;
    for token in code {
        match &token {
            TokenTree::Ident(name) if !is_within => {
                names.insert(name.to_string());
            }
            TokenTree::Group(group) => names_in_code(group.stream(), names),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        is_within = matches!(&token, TokenTree::Punct(mark) if matches!(mark.as_char(), '.' | ':'));
    }
}

fn names_in_settings(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            // Words in lower case are the attribute's own.
            TokenTree::Ident(name) => {
                let name = name.to_string();
                let is_relative = name == "self" || name == "super";
                if is_relative || name.starts_with(|first: char| first.is_ascii_uppercase()) {
                    names.insert(name);
                }
            }
            TokenTree::Literal(value) => names_in_text(&value.to_string(), names),
            TokenTree::Group(group) => names_in_settings(group.stream(), names),
            TokenTree::Punct(_) => {}
        }
    }
}

/// The names of a path or type that stands in a text: the first one of `"part::default_size"`, and
/// all of `"BTreeMap<String, Part>"`.
fn names_in_text(literal: &str, names: &mut BTreeSet<String>) {
    let Ok(text) = syn::parse_str::<syn::LitStr>(literal) else {
        return;
    };
    let text = text.value();
    // A rule in CEL may be this word alone.
    if text == "self" {
        return;
    }
    let form = syn::parse_str::<syn::Type>(&text);
    if let Ok(syn::Type::Path(_) | syn::Type::Tuple(_) | syn::Type::Array(_)) = form {
        names_in_code(text.parse().unwrap_or_default(), names);
    }
}

/// What an item is called, and who may use it.
fn named(item: &Item) -> Option<(String, &Visibility)> {
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

    use super::{Hindrance, Twin, twin};
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

    fn made_of(text: &str) -> Result<Twin, Hindrance> {
        let source = Source::parse(Path::new("site.rs"), text.to_owned()).unwrap();
        let kind = derived_kinds(&source).remove(0);
        twin(&source, "crate::api::site", &kind, "v2")
    }

    #[test]
    fn the_copy_has_the_new_version_and_brings_in_what_it_uses_and_nothing_else() {
        let twin = made_of(SITE).unwrap();
        assert_eq!(
            twin.imports,
            [
                "use kubewright::prelude::*;",
                "use std::collections::BTreeMap;",
                "use crate::api::parts::Part;",
                "use crate::api::site::SiteStatus;",
                "use crate::api::site::Size;",
                "use crate::api::site::default_size;",
            ]
        );
        assert!(twin.item.starts_with("/// A site"), "{}", twin.item);
        assert!(twin.item.contains(r#"version = "v2", kind = "Site""#));
        assert!(twin.item.ends_with("// by name\n}"), "{}", twin.item);
        assert_eq!(twin.fields, ["size", "labels"]);
        assert!(twin.has_status && twin.is_public);
    }

    #[test]
    fn what_another_module_cannot_use_is_named_with_its_line() {
        let private = SITE.replace("pub(crate) fn default_size", "fn default_size");
        let hindrance = made_of(&private).unwrap_err();
        assert_eq!(hindrance.line, 20);
        assert!(hindrance.why.contains("`default_size` is private"));
        let private = SITE.replace("pub size: Size", "size: Size");
        let hindrance = made_of(&private).unwrap_err();
        assert_eq!(hindrance.line, 11);
        assert!(hindrance.why.contains("the field `size` is private"));
        let tuple =
            r#"#[kube(group = "ex.io", version = "v1", kind = "Site")] pub struct SiteSpec(u32);"#;
        let hindrance = made_of(tuple).unwrap_err();
        assert_eq!(hindrance.why, "its fields have no names");
    }

    #[test]
    fn paths_that_another_module_reads_otherwise_are_named_with_their_line() {
        let field = SITE.replace("pub size: Size", "pub size: super::Size");
        let hindrance = made_of(&field).unwrap_err();
        assert_eq!(hindrance.line, 11);
        assert!(
            hindrance
                .why
                .contains("the field `size` names a path of `super::`")
        );
        for (part, by) in [
            (r#"default = "default_size""#, r#"default = "self::size""#),
            ("version =", "validation = self::rule(), version ="),
            (r#""SiteStatus""#, r#""super::SiteStatus""#),
        ] {
            let hindrance = made_of(&SITE.replace(part, by)).unwrap_err();
            assert!(hindrance.why.contains("begin it with `crate::`"), "{by}");
        }
        let renamed = SITE.replace("version =", r#"root = "Page", version ="#);
        let hindrance = made_of(&renamed).unwrap_err();
        assert_eq!(hindrance.line, 9);
        assert!(hindrance.why.contains(r#"`root = "Page"`"#));
        let inner = format!("mod parts {{}}\n{}", SITE.replace("super::parts", "parts"));
        let hindrance = made_of(&inner).unwrap_err();
        assert_eq!(hindrance.line, 1);
        assert!(hindrance.why.contains("`parts` is private"));
    }

    #[test]
    fn names_in_rules_and_in_types_that_stand_in_texts_are_brought_in() {
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
        let imports = made_of(&text).unwrap().imports;
        for line in [
            "use kube::core::cel::Rule;",
            "use std::collections::BTreeSet;",
            "use crate::api::site::words;",
            "use crate::api::site::Step;",
        ] {
            assert!(imports.contains(&line.to_owned()), "{line} in {imports:?}");
        }
        let private = text.replace("pub(crate) fn words", "fn words");
        let hindrance = made_of(&private).unwrap_err();
        assert!(hindrance.why.contains("`words` is private"));
    }
}
