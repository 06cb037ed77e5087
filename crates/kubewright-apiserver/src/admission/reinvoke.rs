use kubewright_wire::status::Status;
use serde_json::Value;

use super::matching::Attributes;
use super::policy::MutatingPolicies;
use super::webhook::MutatingHooks;
use crate::request::Warnings;
use crate::server::Server;

/// Changes an object on its way.
pub(crate) type Change<'a> = &'a (dyn Fn(&mut Value) -> Result<(), Status> + Send + Sync);

/// What happens to an object between policies and webhooks.
#[derive(Clone, Copy)]
pub(crate) struct Between<'a> {
    /// Makes a patched object conform to its kind again: what it does not have goes, defaults
    /// come.
    pub(crate) conform: Change<'a>,
    /// The same for what may not have what its kind does not have.
    pub(crate) conform_strictly: Change<'a>,
    /// Has the plugins of the server look at it once more.
    pub(crate) plugins: Change<'a>,
}

/// Those that may change an object are asked once, and once more after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    First,
    Second,
}

/// Lets policies and then webhooks change the object of a request. When any did, the server's own
/// plugins look at it again, and so do those policies and webhooks that ask for it
/// (k8s.io/apiserver/pkg/admission/reinvocation.go).
pub(crate) async fn change(
    server: &Server,
    attributes: &mut Attributes,
    warnings: &Warnings,
    between: Between<'_>,
) -> Result<(), Status> {
    let mut policies = MutatingPolicies::new(server);
    let mut hooks = MutatingHooks::new(server);
    if policies.is_empty() && hooks.is_empty() {
        return Ok(());
    }
    for round in [Round::First, Round::Second] {
        let by_policies = policies.round(server, attributes, (round, between)).await?;
        let asked = (round, between.conform);
        let by_hooks = hooks.round(server, attributes, warnings, asked).await?;
        if !by_policies && !by_hooks {
            return Ok(());
        }
        if let Some(object) = &mut attributes.object
            && round == Round::First
        {
            (between.plugins)(object)?;
        }
    }
    Ok(())
}
