//! The CPU and memory limits of the process.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The limits of this process's cgroup. `None` is a resource without a limit, or with an unknown
/// one.
///
/// Both versions of cgroups are supported, also in the hybrid layout. The limit is the lowest one
/// of the cgroup and its visible ancestors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CgroupLimits {
    /// The CPU limit in processors, such as 1.5.
    pub cpus: Option<f64>,
    /// The memory limit in bytes.
    pub memory: Option<u64>,
}

/// Version 1 reports a missing limit as the largest number of whole pages, which is above this.
const UNLIMITED: u64 = 1 << 60;

impl CgroupLimits {
    /// Reads the limits from `proc` and `sys` below `root`, which is `/` except in tests.
    pub fn read(root: &Path) -> Self {
        let membership = std::fs::read_to_string(root.join("proc/self/cgroup"));
        let mut limits = Self::default();
        for line in membership.unwrap_or_default().lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else {
                continue;
            };
            limits = limits.and(Self::of_line(root, controllers, group));
        }
        limits
    }

    /// The number of threads to use: the number of processors, or the CPU limit rounded up if it is
    /// lower.
    pub fn threads(&self) -> NonZeroUsize {
        let present = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let Some(cpus) = self.cpus else {
            return present;
        };
        // Counted, because std has no checked conversion from f64.
        let below = (1..present.get()).take_while(|&threads| lossless(threads) < cpus);
        let limit = NonZeroUsize::new(below.count() + 1);
        limit.map_or(present, |limit| limit.min(present))
    }

    /// The limits of a line of `/proc/self/cgroup`. A line without controllers is version 2.
    fn of_line(root: &Path, controllers: &str, group: &str) -> Self {
        let mounts = root.join("sys/fs/cgroup");
        let mut limits = Self::default();
        if controllers.is_empty() {
            // The hybrid layout mounts version 2 below version 1.
            for mount in [mounts.clone(), mounts.join("unified")] {
                for folder in folders(&mount, group) {
                    limits = limits.and(Self {
                        cpus: cpu_max(&folder),
                        memory: number(&folder.join("memory.max")),
                    });
                }
            }
            return limits;
        }
        for controller in controllers.split(',') {
            for mount in [mounts.join(controller), mounts.join(controllers)] {
                for folder in folders(&mount, group) {
                    limits = limits.and(match controller {
                        "cpu" => Self {
                            cpus: cfs_quota(&folder),
                            memory: None,
                        },
                        "memory" => Self {
                            cpus: None,
                            memory: number(&folder.join("memory.limit_in_bytes")),
                        },
                        _ => Self::default(),
                    });
                }
            }
        }
        limits
    }

    /// The lower limit of both for each resource.
    fn and(self, other: Self) -> Self {
        Self {
            cpus: lower(self.cpus, other.cpus, f64::min),
            memory: lower(self.memory, other.memory, u64::min),
        }
    }
}

fn lower<T>(left: Option<T>, right: Option<T>, min: impl Fn(T, T) -> T) -> Option<T> {
    match (left, right) {
        (Some(left), Some(right)) => Some(min(left, right)),
        (left, right) => left.or(right),
    }
}

fn lossless(threads: usize) -> f64 {
    f64::from(u32::try_from(threads).unwrap_or(u32::MAX))
}

/// The folders of the cgroup and its ancestors. Inside a container, the path can be that of the
/// host, and only the folder of the mount exists.
fn folders(mount: &Path, group: &str) -> Vec<PathBuf> {
    let mut folder = mount.join(group.trim_start_matches('/'));
    let mut folders = Vec::new();
    while folder.starts_with(mount) {
        folders.push(folder.clone());
        if !folder.pop() {
            break;
        }
    }
    folders
}

/// `cpu.max` of version 2: `150000 100000`, or `max 100000`.
fn cpu_max(folder: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(folder.join("cpu.max")).ok()?;
    let (quota, period) = text.trim().split_once(' ')?;
    share(quota.parse().ok()?, period.parse().ok()?)
}

/// `cpu.cfs_quota_us` and `cpu.cfs_period_us` of version 1; -1 is no limit.
fn cfs_quota(folder: &Path) -> Option<f64> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let quota = read("cpu.cfs_quota_us")?.trim().parse().ok()?;
    share(quota, read("cpu.cfs_period_us")?.trim().parse().ok()?)
}

fn share(quota: f64, period: f64) -> Option<f64> {
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

fn number(file: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let number = text.trim().parse().ok()?;
    (number < UNLIMITED).then_some(number)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::CgroupLimits;

    /// A temporary folder with these files, removed on drop.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let process = std::process::id();
            let root = std::env::temp_dir().join(format!("kubewright-limits-{process}-{name}"));
            for (path, text) in files {
                let file = root.join(path);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, text).unwrap();
            }
            Self(root)
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            // A folder that cannot be removed does not fail the test.
            std::fs::remove_dir_all(&self.0).ok();
        }
    }

    fn limits(name: &str, files: &[(&str, &str)]) -> CgroupLimits {
        let tree = Tree::new(name, files);
        CgroupLimits::read(&tree.0)
    }

    #[test]
    fn lowest_limit_of_all_ancestors_applies_in_version_2() {
        let read = limits(
            "v2",
            &[
                ("proc/self/cgroup", "0::/pods/web\n"),
                ("sys/fs/cgroup/pods/web/cpu.max", "max 100000\n"),
                ("sys/fs/cgroup/pods/web/memory.max", "268435456\n"),
                ("sys/fs/cgroup/pods/cpu.max", "150000 100000\n"),
                ("sys/fs/cgroup/pods/memory.max", "max\n"),
            ],
        );
        assert_eq!(read.cpus, Some(1.5));
        assert_eq!(read.memory, Some(256 << 20));
        assert!(read.threads().get() <= 2);
    }

    #[test]
    fn limits_of_version_1_are_read_from_the_hierarchy_of_each_controller() {
        let read = limits(
            "v1",
            &[
                (
                    "proc/self/cgroup",
                    "5:cpu,cpuacct:/docker/7\n4:memory:/docker/7\n1:name=systemd:/docker/7\n",
                ),
                // The container sees its own group as the root of the mount.
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n"),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "134217728\n"),
            ],
        );
        assert_eq!(read.cpus, Some(0.5));
        assert_eq!(read.memory, Some(128 << 20));
        assert_eq!(read.threads().get(), 1);
    }

    #[test]
    fn missing_limits_are_none() {
        let read = limits(
            "none",
            &[
                ("proc/self/cgroup", "4:memory:/\n3:cpu:/\n0::/\nnonsense\n"),
                (
                    "sys/fs/cgroup/memory/memory.limit_in_bytes",
                    "9223372036854771712\n",
                ),
                ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
                ("sys/fs/cgroup/unified/memory.max", "max\n"),
            ],
        );
        assert_eq!(read, CgroupLimits::default());
        assert_eq!(
            CgroupLimits::read(Path::new("/nowhere")),
            CgroupLimits::default()
        );
    }
}
