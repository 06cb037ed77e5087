//! An error type of its own: each error says when another try makes sense.

use std::process::ExitCode;

use kubewright::prelude::*;

/// A share of a disk of 100 GB.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "examples.kubewright.dev", version = "v1", kind = "Share")]
#[kube(namespaced, status = "ShareStatus")]
pub(crate) struct ShareSpec {
    pub(crate) gigabytes: u32,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ShareStatus {
    pub(crate) granted: u32,
}

#[derive(Debug, thiserror::Error)]
enum ShareError {
    #[error("a share of nothing; set spec.gigabytes")]
    Empty,
    #[error("{asked} GB asked for, {free} GB are free")]
    Full { asked: u32, free: u32 },
}

impl ShareError {
    /// Only a change of the object helps against the one; for the other, somebody else may make
    /// room.
    fn into_failure(self) -> Failure {
        match self {
            Self::Empty => Failure::terminal(self),
            Self::Full { .. } => Failure::from(self).retry_after(Duration::from_secs(5)),
        }
    }
}

fn grant(asked: u32, taken: u32) -> Result<u32, ShareError> {
    let free = 100_u32.saturating_sub(taken);
    match asked {
        0 => Err(ShareError::Empty),
        _ if asked > free => Err(ShareError::Full { asked, free }),
        _ => Ok(asked),
    }
}

async fn reconcile(share: Arc<Share>, cx: Context<Share>) -> Result<Outcome> {
    let shares = cx.list::<Share>()?;
    let others = shares.iter().filter(|one| one.uid() != share.uid());
    let taken = others
        .filter_map(|one| Some(one.status.as_ref()?.granted))
        .sum();
    let granted = grant(share.spec.gigabytes, taken).map_err(ShareError::into_failure)?;
    cx.status(|status| status.granted = granted).await?;
    Ok(Outcome::done())
}

pub(crate) fn operator() -> Operator {
    Operator::new("shares").controller(Controller::new(reconcile))
}

fn main() -> ExitCode {
    operator().main()
}
