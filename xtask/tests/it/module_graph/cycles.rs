//! Cycles among the modules of one parent.

use std::collections::{BTreeMap, BTreeSet};

use super::resolve::{Graph, Module};

/// The cycles among siblings, at every level of the module tree. Each is one way around.
pub(super) fn sibling_cycles(graph: &Graph) -> Vec<String> {
    let mut levels: BTreeMap<Module, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (from, targets) in graph {
        for to in targets {
            let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
            if let (Some(source), Some(target)) = (from.get(common), to.get(common)) {
                let siblings = levels.entry(from[..common].to_vec()).or_default();
                siblings
                    .entry(source.clone())
                    .or_default()
                    .insert(target.clone());
            }
        }
    }
    let cycles = levels.iter().flat_map(|(parent, siblings)| {
        let cycles = cycles(siblings).into_iter();
        cycles.map(|cycle| {
            let names = cycle.iter().map(|name| {
                let path = [parent.as_slice(), std::slice::from_ref(name)].concat();
                path.join("::")
            });
            names.collect::<Vec<_>>().join(" -> ")
        })
    });
    cycles.collect()
}

/// One cycle through each node that is on one and on no cycle found before.
fn cycles(edges: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    for start in edges.keys() {
        let is_known = found.iter().any(|cycle| cycle.contains(start));
        if !is_known && let Some(cycle) = way_back(edges, start) {
            found.push(cycle);
        }
    }
    found
}

/// The shortest way from a node back to itself.
fn way_back(edges: &BTreeMap<String, BTreeSet<String>>, start: &str) -> Option<Vec<String>> {
    let mut ways = vec![vec![start.to_owned()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            let last = way.last().expect("a way has a start");
            for next in edges.get(last).into_iter().flatten() {
                let extended = [way.as_slice(), std::slice::from_ref(next)].concat();
                if next == start {
                    return Some(extended);
                }
                if seen.insert(next.clone()) {
                    longer.push(extended);
                }
            }
        }
        ways = longer;
    }
    None
}
