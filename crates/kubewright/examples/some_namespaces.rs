//! An operator that is restricted to some namespaces, which can change while it runs. It reads each
//! namespace separately, and needs a Role in each instead of a ClusterRole.

use std::process::ExitCode;

use kubewright::NamespaceSet;
use kubewright::prelude::*;

/// A form to be stamped.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "examples.kubewright.dev", version = "v1", kind = "Form")]
#[kube(namespaced, status = "FormStatus")]
pub(crate) struct FormSpec {}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FormStatus {
    /// The number of known forms when this one was stamped.
    pub(crate) known: usize,
}

async fn stamp(_: Arc<Form>, cx: Context<Form>) -> Result<Outcome> {
    let known = cx.list::<Form>()?.len();
    cx.status(|status| status.known = known).await?;
    Ok(Outcome::done())
}

pub(crate) fn operator(namespaces: NamespaceSet) -> Operator {
    Operator::new("office")
        .controller(Controller::new(stamp))
        .namespaces(namespaces)
}

fn main() -> ExitCode {
    operator(NamespaceSet::new(["default"])).main()
}
