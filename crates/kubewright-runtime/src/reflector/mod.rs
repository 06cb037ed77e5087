//! Keeps a copy of a collection up to date: reads its state, watches it, and reads the state again
//! only when it must.
//!
//! Where the server supports it, the state is the beginning of the watch ([`Streaming`]), which ends
//! with an annotated bookmark. A server that sends neither an object nor that bookmark for ten
//! seconds does not support it. Elsewhere the state is listed: the first list can come from the
//! server's cache (`resourceVersion=0`), later lists are never older than what was already seen. A
//! watch that breaks is resumed from the revision that it reached. Only a server that no longer has
//! that revision (410, in the response or within the stream) causes the state to be read again, then
//! from storage. Failures are retried after 0.8 s to 30 s, doubled and jittered, per reflector; two
//! minutes without a failure reset the backoff (`k8s.io/client-go/tools/cache/reflector.go`). A
//! missing permission or kind is retried every few seconds.
//!
//! Built-in kinds are requested in protobuf ([`Protobuf`]), custom resources in JSON. Both result in
//! equal records, and the reader follows the content type of the response.

mod accept;
mod backoff;
mod body_format;
mod collection;
mod content;
mod frame;
mod initial_state;
mod item_error;
mod list;
mod list_watch;
mod options;
mod protobuf;
mod record_reader;
mod scanner;
mod sink;
mod skipped;
mod spec;
mod streaming;
mod stub;
mod transform;
mod watch;

pub use backoff::RetryBackoff;
pub use content::Content;
pub use list_watch::Reflector;
pub use options::ReflectorOptions;
pub use protobuf::Protobuf;
pub use sink::Sink;
pub use spec::InformerSpec;
pub use streaming::Streaming;
pub use transform::Transform;
