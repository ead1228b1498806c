//! Credentials of proxies: the environment's, but secrets as much as a key is. A proxy may repeat them in an error.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use percent_encoding::percent_decode_str;

use crate::Secrets;
use crate::secrets::SECRET_VALUE_LEN;

/// Variables that name a proxy; each is read in lower case as well.
const VARIABLES: [&str; 3] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/// Keeps what stands before the `@` of each proxy's URL out of every text: as it is written there, percent-decoded, and
/// in base64 as the proxy is sent it.
pub(crate) fn credentials(env: &impl Fn(&str) -> Option<String>, secrets: &mut Secrets) {
    let both = VARIABLES.iter().flat_map(|name| [(*name).to_string(), name.to_lowercase()]);
    for url in both.filter_map(|name| env(&name)) {
        let authority = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        if let Some((userinfo, _)) = authority.rsplit_once('@') {
            add(userinfo, secrets);
        }
    }
}

fn add(userinfo: &str, secrets: &mut Secrets) {
    let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
    let plain = |text: &str| percent_decode_str(text).collect::<Vec<u8>>();
    let sent = [plain(user), plain(password)].join(&b':');
    // Without the padding: a text that ends before it is then found as well.
    secrets.add(&BASE64_STANDARD_NO_PAD.encode(&sent));
    for text in [userinfo, user, password] {
        // A user's name is mostly an ordinary word, which is not to be blanked; where it is long it may be a token.
        if std::ptr::eq(text, user) && user.len() < SECRET_VALUE_LEN {
            continue;
        }
        secrets.add(text);
        secrets.add(&String::from_utf8_lossy(&plain(text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_form_of_a_credential_is_shown() {
        let check = |variable: &str, url: &str, said: &str, right: &str| {
            let mut secrets = Secrets::default();
            credentials(&|name| (name == variable).then(|| url.to_string()), &mut secrets);
            assert_eq!(secrets.redact(said), right, "{variable}={url}");
        };
        let url = "http://joe:p%40ss%2Fw0rd@proxy:3128";
        check("HTTP_PROXY", url, "joe p@ss/w0rd", "joe [redacted]");
        check("https_proxy", url, "p%40ss%2Fw0rd", "[redacted]");
        check("ALL_PROXY", url, "joe:p@ss/w0rd, proxy:3128", "[redacted], proxy:3128");
        check("all_proxy", url, "Basic am9lOnBAc3MvdzByZA==", "Basic [redacted]==");
        check("HTTP_PROXY", "joe:hunter22@proxy", "hunter22", "[redacted]");
        check("HTTP_PROXY", "http://a-long-token@proxy/", "a-long-token", "[redacted]");
        check("HTTP_PROXY", "http://joe:p@ss@w0rd@proxy", "p@ss@w0rd", "[redacted]");
        check("NO_PROXY", url, "p@ss/w0rd", "p@ss/w0rd");
        check("HTTP_PROXY", "http://proxy:3128", "proxy:3128", "proxy:3128");
    }
}
