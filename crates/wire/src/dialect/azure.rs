//! Azure OpenAI: chat's words at a deployment's address, with the results of its filters among them (W21, W27).

use super::chat::Chat;
use super::{ANY, Auth, Message, Speech};
use crate::request::{Ask, Unsayable};
use crate::step::Step;

/// Azure OpenAI's chat completions.
pub(super) struct Azure;

impl Speech for Azure {
    fn name(&self) -> &'static str {
        "azure"
    }

    fn prefix(&self) -> &'static str {
        "openai"
    }

    fn tail(&self) -> &'static [&'static str] {
        &["deployments", ANY, "chat", "completions"]
    }

    /// The newest version that is generally available; an address that names another keeps it.
    fn query(&self, _stream: bool) -> Option<(&'static str, &'static str)> {
        Some(("api-version", "2024-10-21"))
    }

    fn auth(&self) -> Auth {
        Auth::Header("api-key")
    }

    fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, Unsayable> {
        Chat.body(ask)
    }

    fn read(&self, message: Message<'_>, step: &mut Step<'_>) -> Result<(), serde_json::Error> {
        Chat.read(message, step)
    }
}
