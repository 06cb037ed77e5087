use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// What the cgroup of this process lets it have; none where nothing is limited or nothing is
/// known.
///
/// Both versions of cgroups are read, also side by side, below a root that is handed in. Of the
/// groups above its own, as far as they can be seen, the tightest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// How much time on processors, 1.5 being one and a half.
    pub cpus: Option<f64>,
    /// How many bytes.
    pub memory: Option<u64>,
}

/// What a v1 kernel says where nothing is limited: the largest number of whole pages.
const UNLIMITED: u64 = 1 << 60;

impl Limits {
    /// What is said below `root`, which is `/` but in tests.
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

    /// How many threads make sense: as many as there are processors, and no more than the cgroup
    /// lets work at once.
    pub fn threads(&self) -> NonZeroUsize {
        let present = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let Some(cpus) = self.cpus else {
            return present;
        };
        // Counted, because no conversion from f64 says what it does with what does not fit.
        let allowed = (1..present.get()).take_while(|&threads| lossless(threads) < cpus);
        let allowed = NonZeroUsize::new(allowed.count() + 1);
        allowed.map_or(present, |allowed| allowed.min(present))
    }

    /// One line of `/proc/self/cgroup`: no controllers stand for version 2.
    fn of_line(root: &Path, controllers: &str, group: &str) -> Self {
        let mounts = root.join("sys/fs/cgroup");
        let mut limits = Self::default();
        if controllers.is_empty() {
            // Beside version 1 it may be mounted below.
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

    /// The tighter of both.
    fn and(self, other: Self) -> Self {
        let smaller = |one: f64, other: f64| one.min(other);
        Self {
            cpus: merged(self.cpus, other.cpus, smaller),
            memory: merged(self.memory, other.memory, u64::min),
        }
    }
}

fn merged<T>(one: Option<T>, other: Option<T>, choose: impl Fn(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(choose(one, other)),
        (one, other) => one.or(other),
    }
}

fn lossless(threads: usize) -> f64 {
    f64::from(u32::try_from(threads).unwrap_or(u32::MAX))
}

/// The group's folder and those above it. Seen from inside a container, the path may be one of
/// the host's, of which only the mount itself is there.
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

/// `cpu.cfs_quota_us` and `cpu.cfs_period_us` of version 1; -1 stands for no limit.
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

    use super::Limits;

    /// A tree of these files in a folder of its own, which goes with the value.
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
            std::fs::remove_dir_all(&self.0).unwrap_or_default();
        }
    }

    fn limits(name: &str, files: &[(&str, &str)]) -> Limits {
        let tree = Tree::new(name, files);
        Limits::read(&tree.0)
    }

    #[test]
    fn of_version_2_the_tightest_group_counts() {
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
    fn version_1_has_a_hierarchy_for_each_controller() {
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
    fn without_limits_there_are_none() {
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
        assert_eq!(read, Limits::default());
        assert_eq!(Limits::read(Path::new("/nowhere")), Limits::default());
    }
}
