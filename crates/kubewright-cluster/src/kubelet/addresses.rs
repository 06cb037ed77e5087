//! Addresses of Pods.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use kubewright_apiserver::store::Key;

/// The range of Pod addresses: 10.64.0.0/16.
const FIRST: u32 = u32::from_be_bytes([10, 64, 0, 1]);
const LAST: u32 = u32::from_be_bytes([10, 64, 255, 254]);

/// The addresses of Pods.
#[derive(Debug, Default)]
pub(super) struct PodAddresses {
    pods: BTreeMap<u32, Key>,
    addresses: BTreeMap<Key, u32>,
    /// The first candidate of the next allocation, so that a released address is not reused at
    /// once.
    next: u32,
}

impl PodAddresses {
    /// Reserves the address that a Pod has already. Addresses outside of the range are ignored.
    pub(super) fn reserve(&mut self, pod: &Key, address: &str) {
        let Ok(address) = address.parse::<Ipv4Addr>() else {
            return;
        };
        let number = u32::from(address);
        if (FIRST..=LAST).contains(&number) {
            self.assign(pod, number);
        }
    }

    /// The Pod's address, or a new one; `None` when all are taken.
    pub(super) fn allocate(&mut self, pod: &Key) -> Option<Ipv4Addr> {
        if let Some(number) = self.addresses.get(pod) {
            return Some(Ipv4Addr::from(*number));
        }
        let start = self.next.clamp(FIRST, LAST);
        let mut candidates = (start..=LAST).chain(FIRST..start);
        let number = candidates.find(|number| !self.pods.contains_key(number))?;
        self.assign(pod, number);
        Some(Ipv4Addr::from(number))
    }

    /// Releases the address of a deleted Pod.
    pub(super) fn release(&mut self, pod: &Key) {
        if let Some(number) = self.addresses.remove(pod) {
            self.pods.remove(&number);
        }
    }

    fn assign(&mut self, pod: &Key, number: u32) {
        self.release(pod);
        self.pods.insert(number, pod.clone());
        self.addresses.insert(pod.clone(), number);
        self.next = number + 1;
    }
}

#[cfg(test)]
mod tests {
    use kubewright_apiserver::store::Key;

    use super::PodAddresses;

    #[test]
    fn each_pod_has_its_own_address_and_keeps_it() {
        let pod = |name: &str| Key::new("pods", Some("web"), name);
        let mut addresses = PodAddresses::default();
        let mut allocate = |name: &str| {
            let address = addresses.allocate(&pod(name));
            address.map(|address| address.to_string())
        };
        assert_eq!(allocate("a").as_deref(), Some("10.64.0.1"));
        assert_eq!(allocate("b").as_deref(), Some("10.64.0.2"));
        assert_eq!(allocate("a").as_deref(), Some("10.64.0.1"));
        addresses.release(&pod("a"));
        addresses.reserve(&pod("c"), "10.64.0.3");
        addresses.reserve(&pod("host"), "127.0.0.1");
        let next = addresses
            .allocate(&pod("d"))
            .map(|address| address.to_string());
        assert_eq!(next.as_deref(), Some("10.64.0.4"));
    }

    #[test]
    fn allocation_fails_when_all_addresses_are_taken_until_one_is_released() {
        let pod = |number: u32| Key::new("pods", Some("web"), &number.to_string());
        let mut addresses = PodAddresses::default();
        let taken = (0..)
            .take_while(|number| addresses.allocate(&pod(*number)).is_some())
            .count();
        assert_eq!(taken, 65534);
        addresses.release(&pod(7));
        let next = addresses
            .allocate(&pod(70_000))
            .map(|address| address.to_string());
        assert_eq!(next.as_deref(), Some("10.64.0.8"));
    }
}
