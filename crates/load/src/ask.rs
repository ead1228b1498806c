//! A request of a cell, ready to be sent.

use std::sync::Arc;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, Uri, header};
use inferometer_plan::{Cell, Target, Workload};
use inferometer_transport::Request;
use inferometer_wire::request::{self, Ask};
use inferometer_workload::{Item, Prompts};

use crate::Error;

/// Makes the requests of one cell. Everything that does not change is made once.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    target: Arc<Target>,
    workload: Workload,
    prompts: Prompts,
    path: PathAndQuery,
    headers: HeaderMap,
}

/// A request and what it was made from.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) item: Item,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) request: Request,
}

impl Asker {
    pub(crate) fn new(cell: Cell<'_>, prompts: &Prompts) -> Result<Self, Error> {
        let target = Arc::new(cell.target.clone());
        let uri: Uri = target.url.parse().map_err(|_| Error::Address(target.shown_url.clone()))?;
        let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        let headers = headers(&target);
        Ok(Self { target, workload: cell.workload.clone(), prompts: prompts.clone(), path, headers })
    }

    /// The prompt at `seq`, to go out in `request`.
    pub(crate) fn prepare(&self, seq: u64, request: u64) -> Prepared {
        let item = self.prompts.item(seq, request);
        let max_tokens = item.max_tokens.or(self.workload.max_tokens);
        let body = request::body(&Ask {
            dialect: self.target.dialect,
            model: &self.target.model,
            prompt: &item.prompt,
            stream: self.target.stream,
            max_tokens,
            token_field: self.target.token_field,
            temperature: Some(self.workload.temperature),
            include_usage: self.target.include_usage && self.target.stream,
            extra: Some(&self.target.extra),
        });
        let request = Request {
            method: Method::POST,
            path: self.path.clone(),
            headers: self.headers.clone(),
            body: Bytes::from(body),
        };
        Prepared { item, max_tokens, request }
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
