//! The limits of the two servers: what their peers may cost.
//!
//! What is limited, and what is not: `docs/decisions/35-http-limits.md`.

use std::time::Duration;

use ipnet::IpNet;

/// What one peer, and all of them together, may cost.
#[derive(Clone, Debug)]
pub struct TcpLimits {
    /// Most connections at once from one IPv4 address or IPv6 /64 that is no trusted proxy, and most
    /// requests at once of one client behind one.
    pub connections_per_peer_max: u16,
    /// Time for a whole head, from its first byte, or from the start of the connection.
    pub head_timeout: Duration,
    /// Time for a whole body.
    pub body_timeout: Duration,
    /// Most bytes of bodies, of requests and of large answers, that each listener holds at once.
    pub body_bytes_max: usize,
    /// Most of them for one client that is no trusted proxy; no less than the largest body there is.
    pub body_bytes_per_client_max: usize,
    /// Most bytes of events and messages that wait for their peers, and of messages that have not come to
    /// their end, at each listener. They have a budget of their own: bodies of strangers end no stream.
    pub long_lived_bytes_max: usize,
    /// Most of them for one client that is no trusted proxy.
    pub long_lived_bytes_per_client_max: usize,
    /// Longest time without the peer taking a byte of its answer.
    pub write_stall: Duration,
    /// Longest time in which nothing comes of a WebSocket message that has begun; up to twice as long is noticed.
    pub message_stall: Duration,
    /// Longest time a connection is kept without a request under way.
    pub idle: Duration,
    /// Most bytes of a head; at least 8 KiB, which is as low as hyper goes.
    pub head_bytes_max: usize,
    /// Most headers of a request.
    pub headers_max: usize,
    /// Threads that run the handlers of each listener.
    pub handler_threads: usize,
    /// Most requests that wait for a handler of their listener.
    pub queue_max: usize,
    /// Time for a handler, its wait in the queue included.
    pub handler_timeout: Duration,
    /// How long a stop waits for a connection on which nothing of the next head has come.
    pub silent_at_stop: Duration,
    /// How long a stop waits for the rest of a head, and how long for the rest of a body.
    pub rest_at_stop: Duration,
    /// Time until an answer that is handed in later.
    pub late_timeout: Duration,
    /// How long a stream or a WebSocket is silent before the peer hears that it is still there: by a comment,
    /// or by a ping. A WebSocket is ended when a third ping is due and nothing has come since the last two.
    pub keep_alive: Duration,
    /// Messages of WebSockets that handlers of each listener take in at once.
    pub messages_max: usize,
    /// Networks of proxies: no cap on the connections of each, and what they say of their clients is
    /// believed.
    pub trusted_proxies: Vec<IpNet>,
}

impl Default for TcpLimits {
    /// Returns limits for a small machine behind a TLS proxy.
    fn default() -> Self {
        Self {
            connections_per_peer_max: 64,
            head_timeout: Duration::from_secs(5),
            body_timeout: Duration::from_secs(15),
            body_bytes_max: 128 << 20,
            // No client has more than half (docs/decisions/35-http-limits.md); the same holds for what lasts.
            body_bytes_per_client_max: 64 << 20,
            long_lived_bytes_max: 64 << 20,
            long_lived_bytes_per_client_max: 32 << 20,
            write_stall: Duration::from_secs(10),
            message_stall: Duration::from_secs(5),
            idle: Duration::from_secs(30),
            head_bytes_max: 16 << 10,
            headers_max: 64,
            handler_threads: 16,
            queue_max: 256,
            handler_timeout: Duration::from_secs(30),
            // docs/decisions/96-requests-at-a-stop.md
            silent_at_stop: Duration::from_millis(500),
            rest_at_stop: Duration::from_secs(2),
            // Nothing is sent meanwhile, and nginx ends a silent answer after 60 s by default.
            late_timeout: Duration::from_secs(60),
            // Well below the 60 s after which nginx ends a silent stream.
            keep_alive: Duration::from_secs(15),
            messages_max: 4,
            trusted_proxies: Vec::new(),
        }
    }
}

/// What one operator may cost the others.
#[derive(Clone, Copy, Debug)]
pub struct ControlLimits {
    /// Most connections at once; further ones are closed at once.
    pub connections_max: usize,
    /// Time for a whole head, from the start of the connection.
    pub head_timeout: Duration,
    /// Time for a whole body.
    pub body_timeout: Duration,
    /// How long a stop waits for the rest of a request.
    pub rest_at_stop: Duration,
    /// Time for a handler.
    pub handler_timeout: Duration,
    /// Time to take in a whole answer.
    pub write_timeout: Duration,
}

impl Default for ControlLimits {
    /// Returns limits for a few people and their scripts.
    fn default() -> Self {
        Self {
            connections_max: 32,
            head_timeout: Duration::from_secs(5),
            body_timeout: Duration::from_secs(15),
            rest_at_stop: Duration::from_secs(2),
            handler_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(10),
        }
    }
}
