use std::sync::Weak;

use tokio_util::sync::CancellationToken;

use super::InformerSpec;
use super::set;

/// Shared by everybody who uses one informer: with the last of them it stops.
pub(super) struct Lease {
    pub(super) spec: InformerSpec,
    pub(super) stop: CancellationToken,
    pub(super) set: Weak<set::Shared>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(set) = self.set.upgrade() {
            set.forget(&self.spec);
        }
    }
}
