use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use kubewright_apiserver::store::Key;

/// The range that Pods get their addresses from: 10.64.0.0/16.
const FIRST: u32 = u32::from_be_bytes([10, 64, 0, 1]);
const LAST: u32 = u32::from_be_bytes([10, 64, 255, 254]);

/// Which Pod has which address.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    holders: BTreeMap<u32, Key>,
    held: BTreeMap<Key, u32>,
    /// Where to look next: an address is not given away again at once.
    next: u32,
}

impl Addresses {
    /// Notes that a Pod has an address already; others than ours are not kept.
    pub(super) fn note(&mut self, pod: &Key, address: &str) {
        let Ok(address) = address.parse::<Ipv4Addr>() else {
            return;
        };
        let number = u32::from(address);
        if (FIRST..=LAST).contains(&number) {
            self.give(pod, number);
        }
    }

    /// The Pod's address, a new one when it has none; none when all are taken.
    pub(super) fn take(&mut self, pod: &Key) -> Option<Ipv4Addr> {
        if let Some(number) = self.held.get(pod) {
            return Some(Ipv4Addr::from(*number));
        }
        let start = self.next.clamp(FIRST, LAST);
        let mut candidates = (start..=LAST).chain(FIRST..start);
        let number = candidates.find(|number| !self.holders.contains_key(number))?;
        self.give(pod, number);
        Some(Ipv4Addr::from(number))
    }

    /// The Pod is gone, its address is free.
    pub(super) fn release(&mut self, pod: &Key) {
        if let Some(number) = self.held.remove(pod) {
            self.holders.remove(&number);
        }
    }

    fn give(&mut self, pod: &Key, number: u32) {
        self.release(pod);
        self.holders.insert(number, pod.clone());
        self.held.insert(pod.clone(), number);
        self.next = number + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::Addresses;
    use kubewright_apiserver::store::Key;

    #[test]
    fn each_pod_has_its_own_address_and_keeps_it() {
        let pod = |name: &str| Key::new("pods", Some("web"), name);
        let mut addresses = Addresses::default();
        let mut take = |name: &str| addresses.take(&pod(name)).map(|one| one.to_string());
        assert_eq!(take("a").as_deref(), Some("10.64.0.1"));
        assert_eq!(take("b").as_deref(), Some("10.64.0.2"));
        assert_eq!(take("a").as_deref(), Some("10.64.0.1"));
        addresses.release(&pod("a"));
        addresses.note(&pod("c"), "10.64.0.3");
        addresses.note(&pod("host"), "127.0.0.1");
        let next = addresses.take(&pod("d")).map(|one| one.to_string());
        assert_eq!(next.as_deref(), Some("10.64.0.4"));
    }

    #[test]
    fn when_all_are_taken_there_is_none_until_one_is_free() {
        let pod = |number: u32| Key::new("pods", Some("web"), &number.to_string());
        let mut addresses = Addresses::default();
        let taken = (0..)
            .take_while(|number| addresses.take(&pod(*number)).is_some())
            .count();
        assert_eq!(taken, 65534);
        addresses.release(&pod(7));
        let next = addresses.take(&pod(70_000)).map(|one| one.to_string());
        assert_eq!(next.as_deref(), Some("10.64.0.8"));
    }
}
