//! A request of a cell, ready to be sent.

use std::sync::Arc;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, Uri, header};
use inferometer_clock::Wall;
use inferometer_judge::Grader;
use inferometer_plan::{Cell, Outgoing, Target, Workload};
use inferometer_tokens::Tokenizer;
use inferometer_transport::Request;
use inferometer_workload::{Item, Prompts};

use crate::Error;
use crate::gate::Weight;
use crate::keeper::{Keeper, Number};
use crate::purse::Need;

/// A signature is not sent when it is older than this: it is good for five minutes, by a clock that is not ours.
const SIGNATURE_AGE_MAX_NS: u64 = 60_000_000_000;

/// Makes the requests of one cell. Everything that does not change is made once.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    target: Arc<Target>,
    workload: Workload,
    prompts: Prompts,
    /// What makes an answer right, where the prompt does not say so itself.
    grader: Option<Arc<Grader>>,
    /// What the `host` header says.
    authority: String,
    path: PathAndQuery,
    headers: HeaderMap,
    tokenizer: Tokenizer,
    /// Keeps the key, where it can be had anew.
    keeper: Option<Arc<Keeper>>,
}

/// A request and what it was made from.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) item: Item,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) request: Request,
    /// When it was signed, where it is.
    pub(crate) signed: Option<Wall>,
    /// Which key it carries, where that can change.
    pub(crate) key: Option<Number>,
}

impl Prepared {
    /// What it may take of the limits that a target tells, where a token of the prompt has at least a byte.
    pub(crate) fn weight(&self) -> Weight {
        Weight::of(self.request.body.len() as u64, self.max_tokens)
    }
}

impl Asker {
    pub(crate) fn new(cell: Cell<'_>, prompts: &Prompts, tokenizer: Tokenizer) -> Result<Self, Error> {
        let target = Arc::new(cell.target.clone());
        let uri: Uri = target.url.parse().map_err(|_| Error::Address(target.shown_url.clone()))?;
        let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
        let headers = headers(&target);
        let (workload, prompts) = (cell.workload.clone(), prompts.clone());
        let grader = workload.check.clone().map(Grader::new).transpose()?.map(Arc::new);
        Ok(Self { target, workload, prompts, grader, authority, path, headers, tokenizer, keeper: None })
    }

    /// The same with a key that can be had anew.
    pub(crate) fn keeping(self, keeper: Option<Arc<Keeper>>) -> Self {
        Self { keeper, ..self }
    }

    /// What keeps its key.
    pub(crate) fn keeper(&self) -> Option<&Arc<Keeper>> {
        self.keeper.as_ref()
    }

    /// The prompt at `seq` with the nonce of number `nonce`.
    pub(crate) fn prepare(&self, seq: u64, nonce: u64) -> Prepared {
        let mut item = self.prompts.item(seq, nonce);
        item.grader = item.grader.or_else(|| self.grader.clone());
        let max_tokens = item.max_tokens.or(self.workload.max_tokens);
        // That the dialect can say it was found out before the run (`Plan::check_sayable`); should one prompt in
        // thousands still be of another kind, the server refuses an empty body and its sample says so.
        let body = self.target.body(&self.workload, &item, max_tokens).unwrap_or_default();
        let request = Request {
            method: Method::POST,
            path: self.path.clone(),
            headers: self.headers.clone(),
            body: Bytes::from(body),
        };
        let mut prepared = Prepared { item, max_tokens, request, signed: None, key: None };
        self.sign(&mut prepared, true);
        prepared
    }

    /// Makes the request ready to go out, once more where `is_again`: with the newest key, or signed.
    pub(crate) fn authorize(&self, prepared: &mut Prepared, is_again: bool) {
        prepared.key = self.keeper.as_ref().map(|keeper| keeper.show(&mut prepared.request.headers));
        self.sign(prepared, is_again);
    }

    /// Signs the request, where its target wants that: once more where it goes out again (`is_again`), or where its
    /// signature has become too old while it waited for its turn.
    fn sign(&self, prepared: &mut Prepared, is_again: bool) {
        let Some(signing) = &self.target.signing else { return };
        let now = Wall::now();
        let is_fresh = |signed: Wall| now.unix_nanos().abs_diff(signed.unix_nanos()) < SIGNATURE_AGE_MAX_NS;
        if !is_again && prepared.signed.is_some_and(is_fresh) {
            return;
        }
        let Request { method, path, headers, body } = &mut prepared.request;
        let outgoing = Outgoing { method, authority: &self.authority, path, body };
        signing.sign(outgoing, headers, &now.compact());
        prepared.signed = Some(now);
    }
}

impl Asker {
    /// What an attempt may use up at most, where a token of the prompt has at least a byte.
    pub(crate) fn need(&self, prepared: &Prepared) -> Need {
        self.need_of(prepared.request.body.len() as u64, prepared)
    }

    /// The same with the prompt's tokens counted, all of the body taken for them: its JSON stands for the chat template's
    /// own tokens. Milliseconds for a long prompt.
    pub(crate) fn counted(&self, prepared: &Prepared) -> Need {
        self.need_of(self.body_tokens(prepared), prepared)
    }

    /// What it may take of the limits that a target tells, with the prompt's tokens counted as in [`Asker::counted`].
    pub(crate) fn counted_weight(&self, prepared: &Prepared) -> Weight {
        Weight::of(self.body_tokens(prepared), prepared.max_tokens)
    }

    fn body_tokens(&self, prepared: &Prepared) -> u64 {
        self.tokenizer.count(&String::from_utf8_lossy(&prepared.request.body))
    }

    fn need_of(&self, input: u64, prepared: &Prepared) -> Need {
        let output = if self.target.dialect.generates() { prepared.max_tokens } else { Some(0) };
        Need::of(self.target.price.as_ref(), input, output)
    }
}

/// The headers of every request to `target`; the user's own come last and win.
fn headers(target: &Target) -> HeaderMap {
    let accept = target.dialect.accept(target.stream);
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
    headers.insert(
        header::USER_AGENT,
        HeaderValue::from_static(concat!("inferometer/", env!("CARGO_PKG_VERSION"))),
    );
    for (name, value) in &target.headers {
        headers.insert(name.clone(), value.clone());
    }
    headers
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use http::header::AUTHORIZATION;
    use inferometer_plan::Plan;
    use inferometer_workload::{Cache, Source};

    use super::*;

    /// A signature lives for minutes; the wait for a turn, or for a further attempt, may be longer.
    #[test]
    fn what_goes_out_late_or_again_is_signed_anew() {
        let env = |name: &str| match name {
            "AWS_REGION" => Some("us-east-1".to_owned()),
            "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("AKIDEXAMPLE".to_owned()),
            _ => None,
        };
        let text = "[[target]]\nurl = \"http://h\"\nmodel = \"m\"\ndialect = \"bedrock\"\n";
        let plan = Plan::from_toml(text, Path::new("p.toml"), env, 1, None).unwrap();
        let prompts =
            Prompts::prepare(&Source::Builtin { output: None }, None, 1, "test", Cache::AsIs).unwrap();
        let asker = Asker::new(plan.cells().next().unwrap(), &prompts, Tokenizer::o200k()).unwrap();
        let mut prepared = asker.prepare(0, 0);
        let signed = prepared.request.headers[AUTHORIZATION].clone();
        assert!(signed.to_str().unwrap().contains("/us-east-1/bedrock/aws4_request"));
        let old = HeaderValue::from_static("old");
        let mut check = |is_again, signed, is_new: bool| {
            prepared.request.headers.insert(AUTHORIZATION, old.clone());
            prepared.signed = Some(signed);
            asker.sign(&mut prepared, is_again);
            assert_eq!(prepared.request.headers[AUTHORIZATION] != old, is_new);
        };
        check(false, Wall::now(), false);
        check(true, Wall::now(), true);
        check(false, Wall::from_unix_nanos(0), true);
    }
}
