use std::collections::BTreeMap;

use super::super::{At, Told};
use super::containers::each_container;

/// Ports of all containers that get in each other's way.
pub(super) fn ports(spec: At<'_>, told: &mut Told) {
    let mut seen: Vec<Port> = Vec::new();
    each_container(spec, |container| {
        for at in container.field("ports").items() {
            let port = Port::read(at);
            if !port.host_address.is_empty() && port.host_port == 0 {
                let detail = format!("hostIP set without hostPort: {}", as_go_prints_it(at));
                told.at(at, &detail);
            }
            for other in seen.iter().filter(|other| other.is_also(&port)) {
                if let Some(how) = port.clashes(other) {
                    let detail = format!("{how} port definition with {}", other.path);
                    told.at(at, &detail);
                }
            }
            seen.push(port);
        }
    });
}

/// Names of ports that stand for several.
pub(super) fn port_names(spec: At<'_>, told: &mut Told) {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    each_container(spec, |container| {
        for port in container.field("ports").items() {
            let name = port.text_of("name");
            if name.is_empty() {
                continue;
            }
            let Some(first) = seen.get(name) else {
                seen.insert(name.to_owned(), port.path());
                continue;
            };
            let detail = format!(
                "duplicate port name {name:?} with {first}, services and probes that select ports \
                 by name will use {first}"
            );
            told.at(port, &detail);
        }
    });
}

#[derive(Clone, Debug)]
struct Port {
    path: String,
    number: i64,
    protocol: String,
    host_port: i64,
    host_address: String,
}

impl Port {
    fn read(at: At<'_>) -> Self {
        Self {
            path: at.path(),
            number: number(at, "containerPort"),
            protocol: at.text_of("protocol").to_owned(),
            host_port: number(at, "hostPort"),
            host_address: at.text_of("hostIP").to_owned(),
        }
    }

    /// Whether both are the same port of the Pod.
    fn is_also(&self, other: &Self) -> bool {
        self.number == other.number && self.protocol == other.protocol
    }

    /// How a port clashes with the same one of the Pod.
    fn clashes(&self, other: &Self) -> Option<&'static str> {
        let is_same_on_host = self.host_port == other.host_port;
        if is_same_on_host && self.host_address == other.host_address {
            return Some("duplicate");
        }
        if self.host_port == 0 || other.host_port == 0 {
            return Some("overlapping");
        }
        let only_one_is_bound = self.host_address.is_empty() != other.host_address.is_empty();
        (is_same_on_host && only_one_is_bound).then_some("dangerously ambiguous")
    }
}

fn number(at: At<'_>, field: &str) -> i64 {
    at.field(field).number().unwrap_or(0)
}

fn as_go_prints_it(at: At<'_>) -> String {
    format!(
        "{{Name:{} HostPort:{} ContainerPort:{} Protocol:{} HostIP:{}}}",
        at.text_of("name"),
        number(at, "hostPort"),
        number(at, "containerPort"),
        at.text_of("protocol"),
        at.text_of("hostIP")
    )
}
