//! Where credentials are found, what is refused, and what a signed request carries.

use std::fs;

use super::*;

/// The example of Amazon's documentation.
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const HOST_OF_BEDROCK: &str = "bedrock-runtime.us-east-1.amazonaws.com";

const CREDENTIALS: &str = "# mine
[default]
aws_access_key_id = AKIDDEFAULT
aws_secret_access_key = default-secret  # in use
[work]
aws_access_key_id=AKIDWORK
aws_secret_access_key=work-secret
aws_session_token=work-token==
[half]
aws_access_key_id = AKIDHALF
";

const CONFIG: &str = "[default]
region = eu-central-1
s3 =
  region = nowhere-1
[profile work]
region = us-west-2
[ profile  half ]
region = us-west-2
[profile sso]
sso_session = my
region = us-east-2
[profile config-only]
aws_access_key_id = AKIDCONFIG
aws_secret_access_key = config-secret
";

/// What signs at `host` in this environment, with these files: source, region, access key, or why nothing does.
fn found(host: &str, variables: &[(&str, &str)]) -> Result<Option<String>, String> {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".aws")).unwrap();
    fs::write(dir.path().join(".aws/credentials"), CREDENTIALS).unwrap();
    fs::write(dir.path().join(".aws/config"), CONFIG).unwrap();
    let env = |name: &str| {
        let known = variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        known.or_else(|| (name == "HOME").then(|| dir.path().display().to_string()))
    };
    let mut secrets = Secrets::default();
    let found = signing(host, &env, &mut secrets).map_err(|fault| crate::Error::from(fault).to_string())?;
    Ok(found.map(|(signing, source)| {
        let access_key = signing.credentials.access_key.expose_secret();
        assert_eq!(secrets.redact(access_key), "[redacted]");
        assert_eq!(secrets.redact(signing.credentials.secret_key.expose_secret()), "[redacted]");
        let token = signing.credentials.session_token.as_ref().map(ExposeSecret::expose_secret);
        assert!(token.is_none_or(|token| secrets.redact(token) == "[redacted]"));
        format!("{source}: {access_key} {} {}", token.unwrap_or("-"), signing.region)
    }))
}

#[test]
fn where_credentials_are_found() {
    let check = |host: &str, variables: &[(&str, &str)], right: &str| {
        assert_eq!(found(host, variables).as_ref().map(Option::as_deref), Ok(Some(right)), "{variables:?}");
    };
    let keys = [("AWS_ACCESS_KEY_ID", "AKIDENV"), ("AWS_SECRET_ACCESS_KEY", SECRET)];
    let with = |further: &[(&'static str, &'static str)]| [&keys[..], further].concat();
    check(
        "h",
        &with(&[("AWS_REGION", "r1"), ("AWS_DEFAULT_REGION", "r2")]),
        "AWS_ACCESS_KEY_ID: AKIDENV - r1",
    );
    check(
        "h",
        &with(&[("AWS_SESSION_TOKEN", "tok/en=="), ("AWS_DEFAULT_REGION", "r2")]),
        "AWS_ACCESS_KEY_ID: AKIDENV tok/en== r2",
    );
    check("h", &with(&[("AWS_PROFILE", "work")]), "AWS_ACCESS_KEY_ID: AKIDENV - us-west-2");
    // The host's own region is where it is asked.
    check(HOST_OF_BEDROCK, &with(&[("AWS_REGION", "r1")]), "AWS_ACCESS_KEY_ID: AKIDENV - us-east-1");
    check(
        "vpce-1.bedrock-runtime.eu-west-3.vpce.amazonaws.com",
        &keys,
        "AWS_ACCESS_KEY_ID: AKIDENV - eu-west-3",
    );
    check(
        "bedrock-runtime-fips.us-east-2.amazonaws.com:443",
        &keys,
        "AWS_ACCESS_KEY_ID: AKIDENV - us-east-2",
    );
    check("h", &[], "the profile 'default': AKIDDEFAULT - eu-central-1");
    check("h", &[("AWS_PROFILE", "work")], "the profile 'work': AKIDWORK work-token== us-west-2");
    check(
        "h",
        &[("AWS_PROFILE", "config-only"), ("AWS_REGION", "r")],
        "the profile 'config-only': AKIDCONFIG - r",
    );
    let elsewhere = [("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent"), ("AWS_CONFIG_FILE", "/nonexistent")];
    assert_eq!(found("h", &elsewhere), Ok(None));
}

#[test]
fn what_is_missing_is_said() {
    let check = |variables: &[(&str, &str)], right: &str| {
        let said = found("h", variables).unwrap_err();
        assert!(said.contains(right), "{said}");
    };
    check(&[("AWS_ACCESS_KEY_ID", "AKIDENV")], "one of the two is not set");
    check(&[("AWS_PROFILE", "nobody")], "AWS_PROFILE names 'nobody', and there is no such profile");
    check(&[("AWS_PROFILE", "half")], "only one of aws_access_key_id and aws_secret_access_key");
    check(&[("AWS_PROFILE", "sso")], "export-credentials");
    check(&[("AWS_PROFILE", "config-only")], "set AWS_REGION");
    let keys = [("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "no\u{1}header")];
    check(&keys, "a character that no header can carry");
    check(&[("AWS_CONFIG_FILE", "/")], "cannot be read");
}

#[test]
fn a_region_is_known_from_further_places() {
    let env = |name: &str| (name == "AWS_DEFAULT_REGION").then(|| "eu-west-1".to_owned());
    let env = with_region(&env);
    assert_eq!((env("AWS_REGION").as_deref(), env("AWS_PROFILE")), (Some("eu-west-1"), None));
    assert_eq!(region_of(HOST_OF_BEDROCK), Some("us-east-1"));
    assert_eq!(region_of("bedrock-runtime.evil.example"), None);
}

#[test]
fn a_request_is_signed_anew() {
    let signing = Signing {
        credentials: Credentials {
            access_key: "AKIDEXAMPLE".into(),
            secret_key: SECRET.into(),
            session_token: Some("tok/en+1==".into()),
        },
        region: "us-east-1".to_owned(),
    };
    let path = PathAndQuery::from_static("/model/anthropic.claude-v1%3A0/converse-stream");
    let body = b"{\"a\":1}";
    let request = Outgoing { method: &Method::POST, authority: HOST_OF_BEDROCK, path: &path, body };
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    signing.sign(request, &mut headers, "20150830T123600Z");
    let first = headers.clone();
    assert_eq!(headers["x-amz-date"], "20150830T123600Z");
    assert_eq!(headers["x-amz-content-sha256"], sigv4::hash(body).as_str());
    assert_eq!(headers["x-amz-security-token"], "tok/en+1==");
    let names = "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token";
    assert!(headers["authorization"].to_str().unwrap().contains(names));
    assert!(headers["authorization"].is_sensitive() && headers["x-amz-security-token"].is_sensitive());
    signing.sign(request, &mut headers, "20150831T123600Z");
    assert_eq!(headers.len(), first.len());
    assert_ne!(headers["authorization"], first["authorization"]);
    assert_eq!(format!("{signing:?}"), "Signing(bedrock in us-east-1)");
}
