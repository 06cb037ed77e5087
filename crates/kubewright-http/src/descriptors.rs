//! How many files and sockets this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What is kept free for files, pipes and the connections that this process makes itself.
const RESERVED: usize = 64;
/// Where the system sets no limit.
const UNLIMITED: usize = 1 << 20;

/// Raises the limit of open descriptors as far as this process may, as programs in Go do.
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

/// How many connections fit into the limit of this process.
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
    fn some_descriptors_are_left_for_others() {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap());
        assert!(connections() >= 64 && connections() < limit.max(65));
    }
}
