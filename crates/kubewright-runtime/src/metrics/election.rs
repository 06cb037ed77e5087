//! The metric of leader election.

use crate::election::Leadership;
use crate::prometheus::{Exposition, MetricKind};

/// Writes whether this process is the leader by the Lease of this name.
pub fn write_election(page: &mut Exposition, lease: &str, leadership: &Leadership) {
    let mut status = page.family(
        "leader_election_master_status",
        "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 \
         indicates master. 'name' is the string used to identify the lease. Please make sure to \
         group by name.",
        MetricKind::Gauge,
    );
    status.count(&[("name", lease)], u64::from(leadership.is_leading()));
}
