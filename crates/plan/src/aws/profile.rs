//! The files that `aws configure` writes: `~/.aws/credentials` and `~/.aws/config`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::held;

/// Most bytes of one file.
const FILE_MAX: u64 = 1 << 20;
/// The profile that is taken where none is named.
const DEFAULT: &str = "default";
/// What says that a profile's credentials are got by asking someone.
const INDIRECT: [&str; 5] =
    ["sso_session", "sso_start_url", "role_arn", "credential_process", "web_identity_token_file"];

/// Access key, secret key, session token.
pub(super) type Texts = (String, String, Option<String>);

/// What both files say of one profile.
pub(super) struct Profile {
    pub(super) name: String,
    pub(super) region: Option<String>,
    /// From both files; the credentials' own file goes first.
    fields: BTreeMap<String, String>,
}

impl Profile {
    /// The profile that AWS_PROFILE names, else the default one; `None` where there is no default one. The error is for
    /// people.
    pub(super) fn chosen(env: &impl Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let named = held(env, "AWS_PROFILE");
        let name = named.as_deref().unwrap_or(DEFAULT);
        let place = |variable: &str, file: &str| {
            let own = held(env, variable).map(PathBuf::from);
            own.or_else(|| Some(Path::new(&held(env, "HOME")?).join(".aws").join(file)))
        };
        let files = [
            (place("AWS_CONFIG_FILE", "config"), if name == DEFAULT { "" } else { "profile " }),
            (place("AWS_SHARED_CREDENTIALS_FILE", "credentials"), ""),
        ];
        let mut found = None;
        for (path, prefix) in &files {
            let Some(path) = path else { continue };
            let text = read(path).map_err(|why| format!("{} cannot be read: {why}", path.display()))?;
            if let Some(section) = section(&text, &format!("{prefix}{name}")) {
                found.get_or_insert_with(BTreeMap::new).extend(section);
            }
        }
        if found.is_none() && named.is_some() {
            return Err(format!("AWS_PROFILE names '{name}', and there is no such profile in ~/.aws"));
        }
        let name = name.to_owned();
        Ok(found.map(|fields| Self { name, region: fields.get("region").cloned(), fields }))
    }

    /// Its credentials, where it has any; the error is for people.
    pub(super) fn credentials(&self) -> Result<Option<Texts>, &'static str> {
        let field = |name: &str| self.fields.get(name).cloned();
        match (field("aws_access_key_id"), field("aws_secret_access_key")) {
            (Some(access), Some(secret)) => Ok(Some((access, secret, field("aws_session_token")))),
            (None, None) if INDIRECT.iter().any(|name| self.fields.contains_key(*name)) => Err(
                "the profile gets its credentials by single sign-on, a role or another program: `aws configure \
                 export-credentials --format env` prints them as variables to set",
            ),
            (None, None) => Ok(None),
            _ => Err("the profile has only one of aws_access_key_id and aws_secret_access_key"),
        }
    }
}

/// The text of a file; empty where there is no such file.
fn read(path: &Path) -> Result<String, String> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error.to_string()),
    };
    let mut bytes = Vec::new();
    file.take(FILE_MAX + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > FILE_MAX {
        return Err(format!("it is longer than {} MiB", FILE_MAX >> 20));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

/// The fields of the section of this name, where there is one. Indented lines belong to the field above them, and say
/// nothing of interest here.
fn section(text: &str, name: &str) -> Option<BTreeMap<String, String>> {
    let mut found: Option<BTreeMap<String, String>> = None;
    let mut is_inside = false;
    for line in text.lines().filter(|line| !line.starts_with([' ', '\t', '#', ';'])) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.split(']').next().unwrap_or_default();
            is_inside = header.split_whitespace().eq(name.split_whitespace());
            if is_inside {
                found.get_or_insert_default();
            }
        } else if let (true, Some((field, value))) = (is_inside, line.split_once('=')) {
            let value = [" #", " ;", "\t#", "\t;"]
                .iter()
                .fold(value, |value, comment| value.split_once(comment).map_or(value, |(value, _)| value));
            let fields = found.get_or_insert_default();
            fields.insert(field.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    found.map(|fields| fields.into_iter().filter(|(_, value)| !value.is_empty()).collect())
}
