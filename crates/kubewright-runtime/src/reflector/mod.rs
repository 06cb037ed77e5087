//! Keeps a copy of a collection true: lists it, watches it, and lists again only when it must.
//!
//! The first list may come from the server's cache (`resourceVersion=0`); later ones are never
//! older than what was already seen. A watch that breaks goes on where it stopped. Only a server
//! that has forgotten that revision (410, at the start or within the stream) causes a new list,
//! which is then read from storage. Failures wait 0.8 s to 30 s, doubled and jittered, per
//! reflector; two minutes without one begin anew (`k8s.io/client-go/tools/cache/reflector.go`).

mod backoff;
mod follow;
mod item;
mod list;
mod sink;
mod spec;
mod watch;

pub use backoff::RetryBackoff;
pub use follow::Reflector;
pub use sink::Sink;
pub use spec::{InformerSpec, ReflectorOptions};
