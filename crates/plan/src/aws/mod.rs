//! Requests signed with Amazon's credentials, and where those are found.
//!
//! They are looked for as Amazon's own tools do: in the variables, else in the files that `aws configure` writes. What those
//! tools make of a profile by asking someone (single sign-on, a role, another process) is not asked for here.

mod profile;

use std::fmt;

use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use inferometer_wire::sigv4::{self, Signer};
use secrecy::{ExposeSecret, SecretString};

use self::profile::Profile;
use crate::Secrets;
use crate::spec::Fault;

/// The variable with a key for Bedrock alone, which is sent as it is.
pub(crate) const BEARER: &str = "AWS_BEARER_TOKEN_BEDROCK";
/// Where the region is said, the first that is set.
const REGION: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];
/// What Bedrock is called in a signature.
const SERVICE: &str = "bedrock";
const DATE: HeaderName = HeaderName::from_static("x-amz-date");
const BODY_HASH: HeaderName = HeaderName::from_static("x-amz-content-sha256");
const SESSION_TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");

/// What signs the requests to a target.
#[derive(Clone)]
pub struct Signing {
    credentials: Credentials,
    region: String,
}

/// The secrets are left out.
impl fmt::Debug for Signing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signing({SERVICE} in {})", self.region)
    }
}

/// Someone's credentials at Amazon.
#[derive(Clone)]
pub(crate) struct Credentials {
    access_key: SecretString,
    secret_key: SecretString,
    session_token: Option<SecretString>,
}

/// What of a request is signed, beside its headers.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// Its method.
    pub method: &'a Method,
    /// What its `host` header says, where it is not among the headers.
    pub authority: &'a str,
    /// Path and query as they are sent.
    pub path: &'a PathAndQuery,
    /// Its body.
    pub body: &'a [u8],
}

impl Signing {
    /// Puts a signature of `date` (`20150830T123600Z`) into `headers`, in the place of an older one. A hash of the body that
    /// stands there already is taken for right.
    pub fn sign(&self, request: Outgoing<'_>, headers: &mut HeaderMap, date: &str) {
        let Credentials { access_key, secret_key, session_token } = &self.credentials;
        put(headers, DATE, date);
        if !headers.contains_key(BODY_HASH) {
            put(headers, BODY_HASH, &sigv4::hash(request.body));
        }
        if let Some(token) = session_token {
            put(headers, SESSION_TOKEN, token.expose_secret());
        }
        let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(&HOST).unwrap_or(request.authority);
        let covered = [CONTENT_TYPE, BODY_HASH, DATE, SESSION_TOKEN];
        let covered = covered.iter().filter_map(|name| Some((name.as_str(), text(name)?)));
        let covered: Vec<_> = covered.chain([(HOST.as_str(), host)]).collect();
        let signer = Signer {
            access_key: access_key.expose_secret(),
            secret_key: secret_key.expose_secret(),
            region: &self.region,
            service: SERVICE,
        };
        let authorization = signer.authorization(&sigv4::Signed {
            method: request.method.as_str(),
            path: request.path.path(),
            query: request.path.query().unwrap_or_default(),
            headers: &covered,
            body_hash: text(&BODY_HASH).unwrap_or_default(),
            date,
        });
        put(headers, AUTHORIZATION, &authorization);
    }
}

/// Text from here and from credentials, which were held to be fit for a header when they were found.
fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(mut value) = HeaderValue::from_str(value) {
        value.set_sensitive(name == AUTHORIZATION || name == SESSION_TOKEN);
        headers.insert(name, value);
    }
}

/// Whether an address, or a host, is Amazon's.
pub(crate) fn is_amazon_s(address: &str) -> bool {
    let host = host(address);
    [".amazonaws.com", ".amazonaws.com.cn", ".api.aws"].iter().any(|domain| host.ends_with(domain))
}

/// The host of an address, or of a host with its port.
fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split(['/', '?', '#', ':']).next().unwrap_or_default()
}

/// What signs requests to `address`, and where it comes from; `None` where there are no credentials. Every part of them is
/// kept among `secrets`.
pub(crate) fn signing(
    address: &str,
    env: &impl Fn(&str) -> Option<String>,
    secrets: &mut Secrets,
) -> Result<Option<(Signing, String)>, Fault> {
    let profile = Profile::chosen(env);
    let Some((credentials, source)) = credentials(&profile, env, secrets)? else { return Ok(None) };
    let Some(region) = region_of(address).map(str::to_owned).or_else(|| region(&profile, env)) else {
        return Err(fault("no region is known, without which nothing can be signed: set AWS_REGION"));
    };
    Ok(Some((Signing { credentials, region }, source)))
}

/// `env`, which knows a region also where only a further variable or a profile says it.
pub(crate) fn with_region(env: &impl Fn(&str) -> Option<String>) -> impl Fn(&str) -> Option<String> {
    move |name| match env(name) {
        None if name == REGION[0] => region(&Profile::chosen(env), env),
        held => held,
    }
}

fn region(
    profile: &Result<Option<Profile>, String>,
    env: &impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let said = REGION.iter().find_map(|name| held(env, name));
    said.or_else(|| profile.as_ref().ok()?.as_ref()?.region.clone())
}

/// The region in a host such as `bedrock-runtime.us-east-1.amazonaws.com`.
fn region_of(address: &str) -> Option<&str> {
    let mut labels = host(address).split('.').skip_while(|label| !label.starts_with("bedrock-runtime"));
    labels.nth(1).filter(|_| is_amazon_s(address))
}

fn credentials(
    profile: &Result<Option<Profile>, String>,
    env: &impl Fn(&str) -> Option<String>,
    secrets: &mut Secrets,
) -> Result<Option<(Credentials, String)>, Fault> {
    let of_variables = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map(|name| held(env, name));
    let (texts, source) = match of_variables {
        [Some(access), Some(secret)] => {
            ((access, secret, held(env, "AWS_SESSION_TOKEN")), "AWS_ACCESS_KEY_ID".to_owned())
        }
        [None, None] => match profile.as_ref().map_err(|reason| fault(reason))? {
            Some(profile) => match profile.credentials().map_err(fault)? {
                Some(texts) => (texts, format!("the profile '{}'", profile.name)),
                None => return Ok(None),
            },
            None => return Ok(None),
        },
        _ => {
            let reason =
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together, and one of the two is not set";
            return Err(fault(reason));
        }
    };
    let (access_key, secret_key, session_token) = texts;
    for text in [Some(&access_key), Some(&secret_key), session_token.as_ref()].into_iter().flatten() {
        secrets.add(text);
        if HeaderValue::from_str(text).is_err() {
            return Err(fault(&format!(
                "the credentials of {source} hold a character that no header can carry"
            )));
        }
    }
    let secret = |text: String| SecretString::from(text);
    let credentials = Credentials {
        access_key: secret(access_key),
        secret_key: secret(secret_key),
        session_token: session_token.map(secret),
    };
    Ok(Some((credentials, source)))
}

/// That Amazon wants credentials, of which there are none.
pub(crate) fn missing() -> Fault {
    fault(
        "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or a key of Bedrock's own in AWS_BEARER_TOKEN_BEDROCK",
    )
}

fn fault(reason: &str) -> Fault {
    Fault::value("dialect", "bedrock", reason)
}

/// What a variable holds that is not empty.
fn held(env: &impl Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    env(name).map(|held| held.trim().to_owned()).filter(|held| !held.is_empty())
}

#[cfg(test)]
mod tests;
