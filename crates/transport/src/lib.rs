//! Sockets with a stamp on every phase: DNS, TCP, TLS, HTTP/1.1 and 2, pools.
