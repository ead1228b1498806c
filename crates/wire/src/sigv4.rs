//! Amazon's request signatures, version 4.
//!
//! A signature is a MAC over a request in a canonical form, under a key that is derived from the secret for one day, region
//! and service. The definition is Amazon's "Create a signed AWS API request"; the tests are the cases published with it.

use std::fmt;
use std::fmt::Write as _;

use ring::{digest, hmac};

/// What the name of the algorithm is in a signed request.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Who signs, and for what.
#[derive(Clone, Copy)]
pub struct Signer<'a> {
    /// The public half of the credentials.
    pub access_key: &'a str,
    /// The secret half.
    pub secret_key: &'a str,
    /// Where it is asked (`us-east-1`).
    pub region: &'a str,
    /// What is asked there (`bedrock`).
    pub service: &'a str,
}

/// The secret is left out.
impl fmt::Debug for Signer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { region, service, .. } = self;
        f.debug_struct("Signer").field("region", region).field("service", service).finish_non_exhaustive()
    }
}

/// A request as it is sent.
#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    /// Its method.
    pub method: &'a str,
    /// Its path, encoded as it is sent, from the first slash on.
    pub path: &'a str,
    /// Its query, encoded as it is sent, without the question mark.
    pub query: &'a str,
    /// The headers that the signature is to cover, `host` among them: name and value, in any order.
    pub headers: &'a [(&'a str, &'a str)],
    /// [`hash`] of its body.
    pub body_hash: &'a str,
    /// When it is signed, as its `x-amz-date` says it: `20150830T123600Z`.
    pub date: &'a str,
}

impl Signer<'_> {
    /// The value of the `authorization` header.
    pub fn authorization(&self, request: &Signed<'_>) -> String {
        let day = request.date.get(..8).unwrap_or(request.date);
        let scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let (canonical, names) = request.canonical();
        let to_sign = format!("{ALGORITHM}\n{}\n{scope}\n{}", request.date, hash(canonical.as_bytes()));
        let signature = hex(hmac::sign(&self.key(day), to_sign.as_bytes()).as_ref());
        let access_key = self.access_key;
        format!("{ALGORITHM} Credential={access_key}/{scope}, SignedHeaders={names}, Signature={signature}")
    }

    /// The key of one day, for this region and service.
    fn key(&self, day: &str) -> hmac::Key {
        let first = hmac::Key::new(hmac::HMAC_SHA256, format!("AWS4{}", self.secret_key).as_bytes());
        [day, self.region, self.service, "aws4_request"].iter().fold(first, |key, part| {
            hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&key, part.as_bytes()).as_ref())
        })
    }
}

impl Signed<'_> {
    /// The request in the form that is signed, and the names of the headers that it covers.
    fn canonical(&self) -> (String, String) {
        // Of one name, the values stand in the order in which they were given.
        let mut headers: Vec<(String, String)> = Vec::new();
        for (name, value) in self.headers {
            let (name, value) = (name.to_ascii_lowercase(), trimmed(value));
            match headers.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) => {
                    values.push(',');
                    values.push_str(&value);
                }
                None => headers.push((name, value)),
            }
        }
        headers.sort();
        let names = headers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(";");
        let mut canonical = format!("{}\n{}\n{}\n", self.method, encoded(self.path), sorted(self.query));
        for (name, value) in &headers {
            canonical.push_str(name);
            canonical.push(':');
            canonical.push_str(value);
            canonical.push('\n');
        }
        canonical.push('\n');
        canonical.push_str(&names);
        canonical.push('\n');
        canonical.push_str(self.body_hash);
        (canonical, names)
    }
}

/// The SHA-256 of a body in hexadecimal digits, as `x-amz-content-sha256` says it.
pub fn hash(body: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, body).as_ref())
}

/// The path, encoded once more than it is sent: what is signed is the encoding of the path itself.
fn encoded(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    if encoded.is_empty() { "/".to_owned() } else { encoded }
}

/// The parameters by name, then by value; one without a value has an empty one.
fn sorted(query: &str) -> String {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let mut pairs: Vec<_> = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect();
    pairs.sort_unstable();
    let pairs: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

/// The value without spaces at its ends, and with one for each run of them within.
fn trimmed(value: &str) -> String {
    value.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: Signer<'_> = Signer {
        access_key: "AKIDEXAMPLE",
        secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        region: "us-east-1",
        service: "service",
    };
    const DATE: &str = "20150830T123600Z";
    const HOST: (&str, &str) = ("Host", "example.amazonaws.com");

    /// A case of Amazon's `aws-sig-v4-test-suite`: `address` and headers as they are sent, what the signature is.
    fn check(
        (method, address): (&str, &str),
        headers: &[(&str, &str)],
        body: &str,
        (names, signature): (&str, &str),
    ) {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let headers: Vec<_> = [HOST, ("X-Amz-Date", DATE)].iter().chain(headers).copied().collect();
        let body_hash = hash(body.as_bytes());
        let request = Signed { method, path, query, headers: &headers, body_hash: &body_hash, date: DATE };
        let right = format!(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders={names}, Signature={signature}"
        );
        assert_eq!(EXAMPLE.authorization(&request), right, "{method} {address}");
    }

    #[test]
    fn the_published_cases() {
        const NAMES: &str = "host;x-amz-date";
        let vanilla = (NAMES, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
        check(("GET", "/"), &[], "", vanilla);
        check(("GET", "/?"), &[], "", vanilla);
        check(
            ("GET", "/?Param2=value2&Param1=value1"),
            &[],
            "",
            (NAMES, "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        );
        check(
            ("GET", "/\u{1234}"),
            &[],
            "",
            (NAMES, "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
        );
        check(
            ("GET", "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
            &[],
            "",
            (NAMES, "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"),
        );
        let post = (NAMES, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
        check(("POST", "/"), &[], "", post);
        check(
            ("POST", "/"),
            &[("Content-Type", "application/x-www-form-urlencoded")],
            "Param1=value1",
            (
                "content-type;host;x-amz-date",
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            ),
        );
        check(
            ("GET", "/"),
            &[("My-Header1", "value2"), ("My-Header1", "value2"), ("My-Header1", "value1")],
            "",
            (
                "host;my-header1;x-amz-date",
                "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
            ),
        );
        check(
            ("GET", "/"),
            &[("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")],
            "",
            (
                "host;my-header1;my-header2;x-amz-date",
                "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
            ),
        );
        let token = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";
        check(
            ("POST", "/"),
            &[("X-Amz-Security-Token", token)],
            "",
            (
                "host;x-amz-date;x-amz-security-token",
                "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
            ),
        );
    }

    /// The examples in the documentation of IAM and S3, and the key that is derived in the former.
    #[test]
    fn the_documented_examples() {
        let iam = Signer { service: "iam", ..EXAMPLE };
        let headers = [
            ("Content-Type", "application/x-www-form-urlencoded; charset=utf-8"),
            ("Host", "iam.amazonaws.com"),
            ("X-Amz-Date", DATE),
        ];
        let empty = hash(b"");
        let request = Signed {
            method: "GET",
            path: "/",
            query: "Action=ListUsers&Version=2010-05-08",
            headers: &headers,
            body_hash: &empty,
            date: DATE,
        };
        let signature = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7";
        assert!(iam.authorization(&request).ends_with(&format!("Signature={signature}")));
        let s3 = Signer {
            access_key: "AKIAIOSFODNN7EXAMPLE",
            secret_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            service: "s3",
            ..EXAMPLE
        };
        let date = "20130524T000000Z";
        let headers = [
            ("host", "examplebucket.s3.amazonaws.com"),
            ("range", "bytes=0-9"),
            ("x-amz-content-sha256", empty.as_str()),
            ("x-amz-date", date),
        ];
        let request = Signed { path: "/test.txt", query: "", headers: &headers, date, ..request };
        let signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
        assert!(s3.authorization(&request).ends_with(&format!("Signature={signature}")));
    }

    /// What botocore 1.44.8 makes of a request to Bedrock, in whose path something is encoded already.
    #[test]
    fn an_encoded_path_is_encoded_again() {
        let bedrock = Signer { service: "bedrock", ..EXAMPLE };
        let body_hash = hash(b"{\"a\":1}");
        let headers = [
            ("content-type", "application/json"),
            ("host", "bedrock-runtime.us-east-1.amazonaws.com"),
            ("x-amz-date", DATE),
            ("x-amz-security-token", "tok/en+1=="),
        ];
        let path = "/model/anthropic.claude-v1%3A0/converse-stream";
        let request =
            Signed { method: "POST", path, query: "", headers: &headers, body_hash: &body_hash, date: DATE };
        let signature = "ae70b658f2b6b40a89fdb055529d61e90f2e5cb435a182a9a8490c36a6ecc664";
        assert!(bedrock.authorization(&request).ends_with(&format!("Signature={signature}")));
    }

    #[test]
    fn no_secret_is_printed() {
        assert_eq!(format!("{EXAMPLE:?}"), "Signer { region: \"us-east-1\", service: \"service\", .. }");
    }

    #[test]
    fn any_request_is_signed() {
        bolero::check!().with_type::<[String; 6]>().with_iterations(2000).for_each(
            |[path, query, name, value, date, region]| {
                let headers = [(name.as_str(), value.as_str())];
                let body_hash = hash(b"");
                let request =
                    Signed { method: "POST", path, query, headers: &headers, body_hash: &body_hash, date };
                let signed = Signer { region, ..EXAMPLE }.authorization(&request);
                assert_eq!(signed.rsplit_once("Signature=").map(|(_, signature)| signature.len()), Some(64));
            },
        );
    }
}
