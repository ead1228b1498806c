//! Types as JSON has them, out of their source.

use syn::{Attribute, Expr, Fields, GenericArgument, Item, Lit, Meta, PathArguments, Type};

use crate::read;

pub(crate) fn items(path: &str) -> Vec<Item> {
    syn::parse_file(&read(path)).unwrap().items
}

pub(crate) fn name_of(item: &Item) -> String {
    match item {
        Item::Struct(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        _ => String::new(),
    }
}

/// Whether a type goes into or out of a file. Flags are written by their names.
pub(crate) fn is_in_a_file(item: &Item) -> bool {
    let (Item::Struct(syn::ItemStruct { attrs, .. }) | Item::Enum(syn::ItemEnum { attrs, .. })) = item else {
        return false;
    };
    attrs.iter().any(|attr| attr.path().is_ident("derive") && tokens(attr).contains("erialize"))
        || name_of(item) == "Flag"
}

/// The rows of the table of a type: its fields, or its variants.
pub(crate) fn rows(name: &str, path: &str) -> Vec<String> {
    let item = items(path).into_iter().find(|item| name_of(item) == name);
    match item.unwrap_or_else(|| panic!("{path} has no {name}")) {
        Item::Struct(item) => fields(&item.fields).into_iter().map(|field| field.row()).collect(),
        Item::Enum(item) => item.variants.iter().map(variant_row).collect(),
        _ => Vec::new(),
    }
}

/// A field as JSON has it.
struct Field {
    name: String,
    kind: String,
    doc: String,
}

impl Field {
    fn row(&self) -> String {
        format!("| `{}` | {} | {} |", self.name, self.kind, self.doc)
    }
}

fn fields(fields: &Fields) -> Vec<Field> {
    let kept = fields.iter().filter(|field| !has_serde(&field.attrs, "skip"));
    let shown = kept.map(|field| {
        let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
        let kind = match serde_value(&field.attrs, "serialize_with").as_deref() {
            Some("as_seconds") => "number".to_string(),
            Some("as_optional_seconds") => "number or null".to_string(),
            Some("names_only") => "list of string".to_string(),
            Some("as_text") => "string".to_string(),
            Some("as_optional_text") => "string or null".to_string(),
            // The former is of the type itself, with other values.
            Some("without_keys") | None => kind(&field.ty),
            Some(other) => panic!("how does {other} serialise?"),
        };
        let kind = match kind.strip_suffix(" or null") {
            Some(kind) if has_serde(&field.attrs, "skip_serializing_if") => format!("{kind}, or absent"),
            None if has_serde(&field.attrs, "skip_serializing_if") => format!("{kind}, or absent"),
            _ => kind,
        };
        Field { name: serde_value(&field.attrs, "rename").unwrap_or(name), kind, doc: doc(&field.attrs) }
    });
    shown.collect()
}

fn variant_row(variant: &syn::Variant) -> String {
    let inner = fields(&variant.fields).into_iter().map(|field| {
        let name = if field.name.is_empty() { String::new() } else { format!("`{}` ", field.name) };
        let doc = if field.doc.is_empty() { String::new() } else { format!(": {}", field.doc) };
        format!(" With {name}({}){doc}", field.kind)
    });
    let text = doc(&variant.attrs) + &inner.collect::<String>();
    format!("| `{}` | {text} |", snake_case(&variant.ident.to_string()))
}

fn snake_case(camel: &str) -> String {
    let lower = camel.char_indices().map(|(at, letter)| {
        let gap = if at > 0 && letter.is_uppercase() { "_" } else { "" };
        format!("{gap}{}", letter.to_lowercase())
    });
    lower.collect()
}

/// What a type is in JSON.
fn kind(of: &Type) -> String {
    if let Type::Array(array) = of {
        return format!("list of {}", kind(&array.elem));
    }
    let Type::Path(path) = of else { return "JSON".to_string() };
    let last = path.path.segments.last().unwrap();
    let inner = match &last.arguments {
        PathArguments::AngleBracketed(inside) => inside.args.iter().filter_map(|argument| match argument {
            GenericArgument::Type(inner) => Some(kind(inner)),
            _ => None,
        }),
        _ => return plain(&last.ident.to_string()),
    };
    let inner = inner.last().unwrap_or_default();
    match last.ident.to_string().as_str() {
        "Option" => format!("{inner} or null"),
        "Vec" => format!("list of {inner}"),
        "BTreeMap" => format!("object of {inner}"),
        "Box" => inner,
        _ => "JSON".to_string(),
    }
}

fn plain(ident: &str) -> String {
    match ident {
        "u8" | "u16" | "u32" | "u64" | "usize" | "NonZeroU32" => "integer".to_string(),
        "f64" | "Num" => "number".to_string(),
        "Duration" => "time".to_string(),
        "SocketAddr" => "address".to_string(),
        "Distribution" => "law".to_string(),
        "bool" => "boolean".to_string(),
        "String" | "PathBuf" | "Dialect" | "Objectives" | "Gate" | "Cache" => "string".to_string(),
        "Value" | "RawValue" | "Map" | "Source" => "JSON".to_string(),
        other => other.to_string(),
    }
}

fn tokens(attr: &Attribute) -> String {
    match &attr.meta {
        Meta::List(list) => list.tokens.to_string(),
        _ => String::new(),
    }
}

/// The words of every `#[serde(…)]`: `rename = "final"`, `skip`.
fn serde_words(attrs: &[Attribute]) -> Vec<String> {
    let serde = attrs.iter().filter(|attr| attr.path().is_ident("serde"));
    serde
        .flat_map(|attr| tokens(attr).split(',').map(|word| word.trim().to_string()).collect::<Vec<_>>())
        .collect()
}

fn has_serde(attrs: &[Attribute], word: &str) -> bool {
    serde_words(attrs).iter().any(|said| said == word || said.starts_with(&format!("{word} =")))
}

fn serde_value(attrs: &[Attribute], word: &str) -> Option<String> {
    let words = serde_words(attrs);
    let said = words.iter().find_map(|said| said.strip_prefix(word)?.trim().strip_prefix('='))?;
    Some(said.trim().trim_matches('"').to_string())
}

/// A doc comment as one cell of a table.
fn doc(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_string()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let text = lines.collect::<Vec<_>>().join(" ");
    text.trim().replace("[`", "`").replace("`crate::", "`").replace("`]", "`").replace('|', "\\|")
}
