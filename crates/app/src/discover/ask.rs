//! What a provider says of a model: its list, and the answer to one small request.

use std::time::Duration;

use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, Uri, header};
use inferometer_clock::Clock;
use inferometer_judge::is_same_model;
use inferometer_plan::{Target, Workload};
use inferometer_transport::{self as transport, Client, Environment, Options, Request, Sockets, Trace};
use inferometer_wire::listing::{Availability, Listed, listing, refusal};
use inferometer_wire::{Decoder, End, Head, Outcome, models_address};
use inferometer_workload::Item;

/// The longest list that is read, in bytes: fifty times OpenRouter's, which is the longest known.
const LIST_MAX: usize = 64 << 20;
/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Tokens that the small request may be answered with: some providers refuse fewer.
const TOKENS: u32 = 16;

/// An answer, whole.
pub(super) struct Got {
    pub(super) status: u16,
    content_type: Option<String>,
    pub(super) body: Vec<u8>,
}

/// What a provider says of the model that is looked for, under one of its names there.
pub(super) struct Said {
    pub(super) id: String,
    pub(super) context: Option<u64>,
    pub(super) availability: Availability,
    /// Its own words.
    pub(super) evidence: Option<String>,
}

/// Whoever asks: one thread, whatever is asked, one thing after the other.
pub(super) struct Asker<'a> {
    pub(super) clock: Clock,
    pub(super) environment: Environment,
    /// What the small request asks.
    pub(super) probe: Option<(&'a Workload, Item)>,
}

impl Asker<'_> {
    /// What stands at `url`, for which no key is needed.
    pub(super) async fn get(&self, url: &str) -> Result<Got, String> {
        self.exchange(url, &self.options(None), Method::GET, HeaderMap::new(), Vec::new()).await
    }

    /// The models of `target`'s list that are `model`; the reason where there is no list.
    pub(super) async fn listed(&self, target: &Target, model: &str) -> Result<Vec<Listed>, String> {
        let url = models_address(&target.url, target.dialect)
            .ok_or_else(|| format!("the dialect {} has no list of models", target.dialect))?;
        let got = self.send(target, &url, Method::GET, Vec::new()).await?;
        if got.status != 200 {
            return Err(format!("its list of models answered {}", got.status));
        }
        let list = listing(&got.body).ok_or("what it gives as a list of models is none")?;
        Ok(list.into_iter().filter(|listed| is_same_model(model, &listed.id)).collect())
    }

    /// Asks for `listed` once where that is wanted: a list alone proves nothing.
    pub(super) async fn try_out(&self, target: &Target, listed: Listed) -> Said {
        let Listed { id, context, availability, evidence } = listed;
        let said = Said { id, context, availability, evidence };
        let Some((workload, item)) = &self.probe else { return said };
        let target = Target { model: said.id.clone(), stream: false, ..target.clone() };
        let limit = target.dialect.generates().then_some(TOKENS);
        let Ok(body) = target.body(workload, item, limit) else { return said };
        match self.send(&target, &target.url, Method::POST, body).await {
            Ok(got) => judged(said, &target, &got),
            Err(error) => Said { evidence: said.evidence.or(Some(error)), ..said },
        }
    }

    async fn send(&self, target: &Target, url: &str, method: Method, body: Vec<u8>) -> Result<Got, String> {
        self.exchange(url, &self.options(Some(target)), method, headers(target), body).await
    }

    fn options(&self, target: Option<&Target>) -> Options {
        Options {
            cacert: target.and_then(|target| target.cacert.clone()),
            insecure: target.is_some_and(|target| target.insecure),
            environment: self.environment.clone(),
            ..Options::default()
        }
    }

    /// One request and its whole answer; the error is for people.
    async fn exchange(
        &self,
        url: &str,
        options: &Options,
        method: Method,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Got, String> {
        let said = |error: transport::Error| error.to_string();
        let reach = transport::Target::new(url, options).map_err(said)?;
        let client = Client::new(&self.clock, Sockets::new(&self.clock), reach).map_err(said)?;
        let uri: Uri = url.parse().map_err(|_| "the address cannot be asked".to_owned())?;
        let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        let request = Request { method, path, headers, body: body.into() };
        tokio::select! {
            got = read(&client, request) => got,
            () = self.clock.sleep(PATIENCE) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
        }
    }
}

fn headers(target: &Target) -> HeaderMap {
    let json = HeaderValue::from_static("application/json");
    let mut headers = HeaderMap::from_iter([(header::CONTENT_TYPE, json.clone()), (header::ACCEPT, json)]);
    headers.extend(target.headers.iter().cloned());
    headers
}

async fn read(client: &Client, request: Request) -> Result<Got, String> {
    let mut exchange = client.send(request, &Trace::new()).await.map_err(|error| error.to_string())?;
    let content_type = exchange.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let mut got = Got {
        status: exchange.status().as_u16(),
        content_type: content_type.map(str::to_owned),
        body: Vec::new(),
    };
    while let Some(frame) = exchange.next().await {
        got.body.extend_from_slice(&frame.map_err(|error| error.to_string())?.data);
        if got.body.len() > LIST_MAX {
            return Err(format!("an answer above {} MiB", LIST_MAX >> 20));
        }
    }
    Ok(got)
}

/// What the answer to the small request says.
fn judged(said: Said, target: &Target, got: &Got) -> Said {
    let head = Head { status: got.status, content_type: got.content_type.as_deref(), streaming: false };
    let mut decoder = Decoder::new(target.dialect, head);
    decoder.feed(&got.body, &mut |_| {});
    match decoder.finish(End::Eof, &mut |_| {}).outcome {
        Outcome::Complete => {
            Said { availability: Availability::Callable, evidence: Some("it answered".to_owned()), ..said }
        }
        Outcome::HttpError { code, message } | Outcome::StreamError { code, message } => {
            let words = message.as_deref().or(code.as_deref());
            let words = words.map_or_else(String::new, |words| format!(": {words}"));
            let words = format!("{}{words}", got.status);
            match refusal(got.status, code.as_deref(), message.as_deref()) {
                // What the list says stands where the refusal says nothing of the model.
                Availability::Unknown => Said { evidence: said.evidence.or(Some(words)), ..said },
                availability => Said { availability, evidence: Some(words), ..said },
            }
        }
        _ => Said { evidence: Some(format!("{}, and nothing that is an answer", got.status)), ..said },
    }
}
