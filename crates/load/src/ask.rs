//! A request of a cell, ready to be sent.

use std::sync::Arc;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, Uri, header};
use inferometer_judge::Grader;
use inferometer_plan::{Cell, Target, Workload};
use inferometer_tokens::Tokenizer;
use inferometer_transport::Request;
use inferometer_workload::{Item, Prompts};

use crate::Error;
use crate::purse::Need;

/// Makes the requests of one cell. Everything that does not change is made once.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    target: Arc<Target>,
    workload: Workload,
    prompts: Prompts,
    /// What makes an answer right, where the prompt does not say so itself.
    grader: Option<Arc<Grader>>,
    path: PathAndQuery,
    headers: HeaderMap,
    tokenizer: Tokenizer,
}

/// A request and what it was made from.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) item: Item,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) request: Request,
}

impl Asker {
    pub(crate) fn new(cell: Cell<'_>, prompts: &Prompts, tokenizer: Tokenizer) -> Result<Self, Error> {
        let target = Arc::new(cell.target.clone());
        let uri: Uri = target.url.parse().map_err(|_| Error::Address(target.shown_url.clone()))?;
        let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        let headers = headers(&target);
        let (workload, prompts) = (cell.workload.clone(), prompts.clone());
        let grader = workload.check.clone().map(Grader::new).transpose()?.map(Arc::new);
        Ok(Self { target, workload, prompts, grader, path, headers, tokenizer })
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
        Prepared { item, max_tokens, request }
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
        let body = String::from_utf8_lossy(&prepared.request.body);
        self.need_of(self.tokenizer.count(&body), prepared)
    }

    fn need_of(&self, input: u64, prepared: &Prepared) -> Need {
        Need::of(self.target.price.as_ref(), input, prepared.max_tokens)
    }
}

/// The headers of every request to `target`; the user's own come last and win.
fn headers(target: &Target) -> HeaderMap {
    let accept = if target.stream { "text/event-stream, application/json" } else { "application/json" };
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
