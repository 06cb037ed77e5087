use std::collections::BTreeMap;
use std::fmt;

use super::{Path, PathElement};

/// A set of fields of an object.
///
/// A field and the fields below it are members independently: `.data` without `.data.x` says
/// that the map itself is owned, `.data.x` alone that only this entry is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// No node is without both membership and members below it.
    pub(super) nodes: BTreeMap<PathElement, Node>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) is_member: bool,
    pub(super) below: FieldSet,
}

impl FieldSet {
    /// A set without members.
    pub const fn new() -> Self {
        Self {
            nodes: BTreeMap::new(),
        }
    }

    /// Adds one field; those above it stay as they are. The empty path is nobody's.
    pub fn insert(&mut self, path: &[PathElement]) {
        let Some((last, above)) = path.split_last() else {
            return;
        };
        let mut set = self;
        for element in above {
            set = &mut set.nodes.entry(element.clone()).or_default().below;
        }
        set.nodes.entry(last.clone()).or_default().is_member = true;
    }

    /// Whether the field is a member.
    pub fn contains(&self, path: &[PathElement]) -> bool {
        let Some((last, above)) = path.split_last() else {
            return false;
        };
        let mut set = self;
        for element in above {
            match set.nodes.get(element) {
                Some(node) => set = &node.below,
                None => return false,
            }
        }
        set.has_member(last)
    }

    /// Whether the field right below is a member.
    pub fn has_member(&self, element: &PathElement) -> bool {
        self.nodes.get(element).is_some_and(|node| node.is_member)
    }

    /// The members below one field, as seen from there; none when there are none.
    pub fn below(&self, element: &PathElement) -> Option<&Self> {
        self.nodes
            .get(element)
            .map(|node| &node.below)
            .filter(|set| !set.is_empty())
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.nodes
            .values()
            .map(|node| usize::from(node.is_member) + node.below.len())
            .sum()
    }

    /// Every member, level by level as conflicts list them: the members of a value before those
    /// of its parts.
    pub fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        self.collect(&mut Vec::new(), &mut paths);
        paths
    }

    /// The steps right below, with whether each is a member and what is below it.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (&PathElement, bool, &Self)> {
        self.nodes
            .iter()
            .map(|(element, node)| (element, node.is_member, &node.below))
    }

    /// Adds a subset below one step; membership is added, never taken away.
    pub(crate) fn graft(&mut self, element: PathElement, is_member: bool, below: Self) {
        if !is_member && below.is_empty() {
            return;
        }
        let node = self.nodes.entry(element).or_default();
        node.is_member |= is_member;
        node.below = std::mem::take(&mut node.below).union(&below);
    }

    fn collect(&self, prefix: &mut Vec<PathElement>, paths: &mut Vec<Path>) {
        for (element, node) in &self.nodes {
            if node.is_member {
                let mut path = prefix.clone();
                path.push(element.clone());
                paths.push(Path(path));
            }
        }
        for (element, node) in &self.nodes {
            prefix.push(element.clone());
            node.below.collect(prefix, paths);
            prefix.pop();
        }
    }
}

impl FromIterator<Path> for FieldSet {
    fn from_iter<T: IntoIterator<Item = Path>>(paths: T) -> Self {
        let mut set = Self::new();
        for path in paths {
            set.insert(&path.0);
        }
        set
    }
}

/// One member a line.
impl fmt::Display for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.paths().iter().map(Path::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}
