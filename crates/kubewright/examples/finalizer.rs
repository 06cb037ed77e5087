//! A finalizer: an object in another namespace cannot have an owner, so the controller deletes it
//! before the API server removes the reconciled object.

use std::process::ExitCode;

use kubewright::prelude::*;
use kubewright::{ObjectKey, Verb};

/// The namespace of the board.
const BOARD: &str = "default";

/// A notice on the board of the cluster.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "examples.kubewright.dev", version = "v1", kind = "Notice")]
#[kube(namespaced)]
pub(crate) struct NoticeSpec {
    pub(crate) text: String,
}

pub(crate) fn name_on_board(key: &ObjectKey) -> String {
    format!("{}-{}", key.namespace().unwrap_or_default(), key.name())
}

async fn show(notice: Arc<Notice>, cx: Context<Notice>) -> Result<Outcome> {
    let shown = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name_on_board(cx.key())),
            namespace: Some(BOARD.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some([("text".to_owned(), notice.spec.text.clone())].into()),
        ..ConfigMap::default()
    };
    cx.apply(&shown).unowned().await?;
    Ok(Outcome::done())
}

async fn take_down(_: Arc<Notice>, cx: Context<Notice>) -> Result<Outcome> {
    if let Some(shown) = cx.get::<ConfigMap>((BOARD, name_on_board(cx.key()).as_str()))? {
        cx.delete(&shown).await?;
    }
    Ok(Outcome::done())
}

pub(crate) fn operator() -> Operator {
    Operator::new("notices").controller(
        Controller::new(show)
            .finalizer("examples.kubewright.dev/board", take_down)
            .reads(kind::<ConfigMap>())
            .writes(
                kind::<ConfigMap>(),
                [Verb::Create, Verb::Patch, Verb::Delete],
            ),
    )
}

fn main() -> ExitCode {
    operator().main()
}
