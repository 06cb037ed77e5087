use futures_util::future::join_all;
use kubewright_core::WebhookKind;
use kubewright_wire::status::Status;

use super::ask::{ask, settle};
use super::asked::asked_in;
use super::configuration::hooks;
use crate::admission::matching::Attributes;
use crate::request::Warnings;
use crate::server::Server;

/// Asks the validating webhooks, all at once; the first that says no is heard.
pub(crate) async fn validate(
    server: &Server,
    attributes: &Attributes,
    warnings: &Warnings,
) -> Result<(), Status> {
    let configurations = hooks(server, WebhookKind::Validating);
    let mut relevant = Vec::new();
    for hook in configurations.iter().flat_map(|hooks| hooks.iter()) {
        if let Some(invocation) = asked_in(server, hook, attributes).await? {
            relevant.push((hook, invocation));
        }
    }
    let asked = relevant.iter().map(async |(hook, invocation)| {
        let kind = WebhookKind::Validating;
        let answer = ask(server, (hook, kind), invocation, attributes, warnings).await;
        settle(hook, answer).map(drop)
    });
    join_all(asked).await.into_iter().collect()
}
