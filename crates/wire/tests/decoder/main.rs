//! The decoder from outside: each entry of the catalogue of wire quirks (W01 to W70, W76 to W90) is a test of its name.

#[cfg(test)]
mod azure;
#[cfg(test)]
mod bedrock;
#[cfg(test)]
mod captures;
#[cfg(test)]
mod common;
#[cfg(test)]
mod embeddings;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod framing;
#[cfg(test)]
mod gemini;
#[cfg(test)]
mod invariants;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod ollama;
#[cfg(test)]
mod output;
#[cfg(test)]
mod responses;
#[cfg(test)]
mod story;
#[cfg(test)]
mod usage;
