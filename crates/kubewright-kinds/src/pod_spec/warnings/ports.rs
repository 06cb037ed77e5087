//! Ports that collide.

use std::collections::BTreeMap;

use super::containers::each_container;
use crate::field_path::FieldPath;
use crate::warning_list::Warnings;

/// Warns about ports of all containers that collide.
pub(super) fn ports(spec: FieldPath<'_>, warnings: &mut Warnings) {
    let mut seen: Vec<Port> = Vec::new();
    each_container(spec, |container| {
        for at in container.field("ports").items() {
            let port = Port::read(at);
            if !port.host_address.is_empty() && port.host_port == 0 {
                let detail = format!("hostIP set without hostPort: {}", go_port(at));
                warnings.add_at(at, &detail);
            }
            for other in seen.iter().filter(|other| other.is_same_port(&port)) {
                if let Some(how) = port.collision(other) {
                    let detail = format!("{how} port definition with {}", other.path);
                    warnings.add_at(at, &detail);
                }
            }
            seen.push(port);
        }
    });
}

/// Warns about names that several ports have.
pub(super) fn port_names(spec: FieldPath<'_>, warnings: &mut Warnings) {
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
            warnings.add_at(port, &detail);
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
    fn read(at: FieldPath<'_>) -> Self {
        Self {
            path: at.path(),
            number: number(at, "containerPort"),
            protocol: at.text_of("protocol").to_owned(),
            host_port: number(at, "hostPort"),
            host_address: at.text_of("hostIP").to_owned(),
        }
    }

    /// Whether both have the same number and protocol.
    fn is_same_port(&self, other: &Self) -> bool {
        self.number == other.number && self.protocol == other.protocol
    }

    /// How a port collides with another of the same number and protocol.
    fn collision(&self, other: &Self) -> Option<&'static str> {
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

fn number(at: FieldPath<'_>, field: &str) -> i64 {
    at.field(field).number().unwrap_or(0)
}

fn go_port(at: FieldPath<'_>) -> String {
    format!(
        "{{Name:{} HostPort:{} ContainerPort:{} Protocol:{} HostIP:{}}}",
        at.text_of("name"),
        number(at, "hostPort"),
        number(at, "containerPort"),
        at.text_of("protocol"),
        at.text_of("hostIP")
    )
}
