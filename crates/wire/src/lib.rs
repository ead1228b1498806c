//! Bytes to meaning and back, without sockets: SSE framing, the chat and completions dialects, usage, errors, request bodies.
