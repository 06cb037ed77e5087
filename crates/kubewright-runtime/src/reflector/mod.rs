//! Keeps a copy of a collection true: reads its state, watches it, and reads the state again only
//! when it must.
//!
//! The state comes as the beginning of a watch where the server does that ([`Streaming`]), which
//! ends with a bookmark that says so; a server that sends no object for ten seconds and no such
//! bookmark does not. Elsewhere it is listed: the first list may come from the server's cache
//! (`resourceVersion=0`), later ones are never older than what was already seen. A watch that
//! breaks goes on where it stopped. Only a server that has forgotten that revision (410, at the
//! start or within the stream) causes the state to be read anew, then from storage. Failures wait
//! 0.8 s to 30 s, doubled and jittered, per reflector; two minutes without one begin anew
//! (`k8s.io/client-go/tools/cache/reflector.go`). What somebody has to permit or to install is
//! looked for every few seconds.
//!
//! Kubernetes' own kinds are asked for in protobuf ([`Protobuf`]), custom resources in JSON; what
//! the server answers in is what is read, and gives the same records.

mod backoff;
mod content;
mod follow;
mod form;
mod frame;
mod gathering;
mod intake;
mod list;
mod protobuf;
mod sink;
mod spec;
mod streaming;
mod transform;
mod watch;

pub use backoff::RetryBackoff;
pub use content::Content;
pub use follow::Reflector;
pub use protobuf::Protobuf;
pub use sink::Sink;
pub use spec::{InformerSpec, ReflectorOptions};
pub use streaming::Streaming;
pub use transform::Transform;
