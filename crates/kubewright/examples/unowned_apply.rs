//! An apply without an owner: a team sets its label on its namespace, in addition to the labels of other
//! field managers.

use std::process::ExitCode;

use k8s_openapi::api::core::v1::Namespace;
use kubewright::Verb;
use kubewright::prelude::*;

/// The team that a namespace belongs to.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "examples.kubewright.dev", version = "v1", kind = "Team")]
#[kube(namespaced)]
pub(crate) struct TeamSpec {
    pub(crate) contact: String,
}

async fn reconcile(team: Arc<Team>, cx: Context<Team>) -> Result<Outcome> {
    let namespace = Namespace {
        metadata: ObjectMeta {
            name: team.namespace(),
            labels: Some([("team".to_owned(), team.name_any())].into()),
            annotations: Some([("contact".to_owned(), team.spec.contact.clone())].into()),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    };
    cx.apply(&namespace).unowned().await?;
    Ok(Outcome::done())
}

pub(crate) fn operator() -> Operator {
    Operator::new("teams").controller(
        Controller::new(reconcile)
            // Another client can remove the label.
            .watches(
                kind::<Namespace>().when(changed::labels().or(changed::annotations())),
                enqueue::all(),
            )
            .writes(kind::<Namespace>(), [Verb::Create, Verb::Patch]),
    )
}

fn main() -> ExitCode {
    operator().main()
}
