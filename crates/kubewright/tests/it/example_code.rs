//! The examples as modules; tests do not call their `main`.

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/builtin_status.rs"]
pub(crate) mod builtin_status;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/dry_run.rs"]
pub(crate) mod dry_run;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/closure.rs"]
pub(crate) mod closure;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/dynamic_kind.rs"]
pub(crate) mod dynamic_kind;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/error_type.rs"]
pub(crate) mod error_type;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/external_source.rs"]
pub(crate) mod external_source;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/finalizer.rs"]
pub(crate) mod finalizer;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/guestbook.rs"]
pub(crate) mod guestbook;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/live_read.rs"]
pub(crate) mod live_read;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/manager.rs"]
pub(crate) mod manager;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/client_limits.rs"]
pub(crate) mod client_limits;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/memcached.rs"]
pub(crate) mod memcached;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/policies.rs"]
pub(crate) mod policies;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/projection.rs"]
pub(crate) mod projection;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/rules.rs"]
pub(crate) mod rules;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/state.rs"]
pub(crate) mod state;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/two_kinds.rs"]
pub(crate) mod two_kinds;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/unowned_apply.rs"]
pub(crate) mod unowned_apply;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../../kubewright-runtime/examples/informer.rs"]
pub(crate) mod informer;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/discovery.rs"]
pub(crate) mod discovery;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/reflector.rs"]
pub(crate) mod reflector;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/rest_client.rs"]
pub(crate) mod rest_client;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/shared_informer.rs"]
pub(crate) mod shared_informer;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/typed_client.rs"]
pub(crate) mod typed_client;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/some_namespaces.rs"]
pub(crate) mod some_namespaces;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/configuration.rs"]
pub(crate) mod configuration;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/deltas.rs"]
pub(crate) mod deltas;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/leader.rs"]
pub(crate) mod leader;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/scheme.rs"]
pub(crate) mod scheme;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/subresources.rs"]
pub(crate) mod subresources;

#[expect(dead_code, reason = "main is not called")]
#[path = "../../examples/timer.rs"]
pub(crate) mod timer;
