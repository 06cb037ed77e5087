//! An error type of the user, whose variants determine when to retry.

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
    #[error("{requested} GB requested, {free} GB are free")]
    Full { requested: u32, free: u32 },
}

impl ShareError {
    /// `Empty` needs a change of the object. `Full` is retried: other shares can free space.
    fn into_failure(self) -> Failure {
        match self {
            Self::Empty => Failure::terminal(self),
            Self::Full { .. } => Failure::from(self).retry_after(Duration::from_secs(5)),
        }
    }
}

fn grant(requested: u32, taken: u32) -> Result<u32, ShareError> {
    let free = 100_u32.saturating_sub(taken);
    match requested {
        0 => Err(ShareError::Empty),
        _ if requested > free => Err(ShareError::Full { requested, free }),
        _ => Ok(requested),
    }
}

async fn reconcile(share: Arc<Share>, cx: Context<Share>) -> Result<Outcome> {
    let shares = cx.list::<Share>()?;
    let others = shares.iter().filter(|other| other.uid() != share.uid());
    let taken = others
        .filter_map(|other| Some(other.status.as_ref()?.granted))
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
