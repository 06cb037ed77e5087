//! Cycles among the modules of one parent.

use std::collections::{BTreeMap, BTreeSet};

use super::resolve::{Graph, Module};

/// Returns the cycles among siblings at every level of the module tree, one path per cycle.
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

/// Returns cycles that together contain every node that is on a cycle.
fn cycles(edges: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    for start in edges.keys() {
        let is_known = found.iter().any(|cycle| cycle.contains(start));
        if !is_known && let Some(cycle) = shortest_cycle(edges, start) {
            found.push(cycle);
        }
    }
    found
}

/// Returns the shortest path from a node back to itself.
fn shortest_cycle(edges: &BTreeMap<String, BTreeSet<String>>, start: &str) -> Option<Vec<String>> {
    let mut paths = vec![vec![start.to_owned()]];
    let mut seen = BTreeSet::new();
    while !paths.is_empty() {
        let mut longer = Vec::new();
        for path in paths {
            let last = path.last().expect("a path has a start");
            for next in edges.get(last).into_iter().flatten() {
                let extended = [path.as_slice(), std::slice::from_ref(next)].concat();
                if next == start {
                    return Some(extended);
                }
                if seen.insert(next.clone()) {
                    longer.push(extended);
                }
            }
        }
        paths = longer;
    }
    None
}
