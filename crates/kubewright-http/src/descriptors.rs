//! The limit of open file descriptors of this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that stay free for files, pipes and the outgoing connections of this process.
const RESERVED: usize = 64;
/// The number of descriptors when the system sets no limit.
const UNLIMITED: usize = 1 << 20;

/// Raises the soft limit of open descriptors to the hard limit, as programs in Go do.
pub fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return;
    }
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!(%error, "raise the limit of open descriptors");
    }
}

/// The number of connections that fit into the limit of this process.
pub(crate) fn connections() -> usize {
    let current = getrlimit(Resource::Nofile).current;
    let all = current.map_or(UNLIMITED, |limit| {
        usize::try_from(limit).unwrap_or(UNLIMITED)
    });
    all.saturating_sub(RESERVED.max(all / 8)).max(RESERVED)
}

#[cfg(test)]
mod tests {
    use super::connections;

    #[test]
    fn some_descriptors_stay_free() {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile)
            .current
            .map_or(usize::MAX, |limit| usize::try_from(limit).unwrap());
        assert!(connections() >= 64 && connections() < limit.max(65));
    }
}
