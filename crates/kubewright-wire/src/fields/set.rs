//! The set of fields: a tree of path elements.

use std::fmt;

use super::element::{Path, PathElement};

/// A set of fields of an object.
///
/// A field and the fields below it are members independently: `.data` without `.data.x` means that
/// the map itself is owned, `.data.x` alone that only this entry is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Sorted by path element, each once. Each node is a member or has members below it. Most sets
    /// have few elements, for which a map would take ten times the memory.
    pub(super) nodes: Vec<(PathElement, Node)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node {
    pub(super) is_member: bool,
    pub(super) below: FieldSet,
}

impl Node {
    pub(crate) fn new(is_member: bool, below: FieldSet) -> Self {
        Self { is_member, below }
    }

    /// Adds the members of another node of the same element.
    pub(super) fn absorb(&mut self, other: Self) {
        self.is_member |= other.is_member;
        self.below = std::mem::take(&mut self.below).union(other.below);
    }

    /// Whether neither this nor anything below it is a member.
    pub(super) fn is_empty(&self) -> bool {
        !self.is_member && self.below.is_empty()
    }
}

impl FieldSet {
    /// A set without members.
    pub const fn new() -> Self {
        Self { nodes: Vec::new() }
    }

    /// A set of these nodes, in any order; nodes of equal elements are joined.
    pub(crate) fn of(mut nodes: Vec<(PathElement, Node)>) -> Self {
        nodes.retain(|(_, node)| !node.is_empty());
        if !nodes.is_sorted_by(|(a, _), (b, _)| a < b) {
            nodes.sort_by(|(a, _), (b, _)| a.cmp(b));
            let mut sorted: Vec<(PathElement, Node)> = Vec::with_capacity(nodes.len());
            for (element, node) in nodes {
                match sorted.last_mut() {
                    Some((last, same)) if *last == element => same.absorb(node),
                    _ => sorted.push((element, node)),
                }
            }
            nodes = sorted;
        }
        Self { nodes }
    }

    /// Adds one field, without its parents. The empty path is ignored: the root is not a member.
    pub fn insert(&mut self, path: &[PathElement]) {
        let Some((last, parents)) = path.split_last() else {
            return;
        };
        let mut set = self;
        for element in parents {
            set = &mut set.node_mut(element.clone()).below;
        }
        set.node_mut(last.clone()).is_member = true;
    }

    /// Whether the field is a member.
    pub fn contains(&self, path: &[PathElement]) -> bool {
        let Some((last, parents)) = path.split_last() else {
            return false;
        };
        let mut set = self;
        for element in parents {
            match set.node(element) {
                Some(node) => set = &node.below,
                None => return false,
            }
        }
        set.has_member(last)
    }

    /// Whether the direct child is a member.
    pub fn has_member(&self, element: &PathElement) -> bool {
        self.node(element).is_some_and(|node| node.is_member)
    }

    /// The members below a direct child, relative to it; `None` when there are none.
    pub fn below(&self, element: &PathElement) -> Option<&Self> {
        self.node(element)
            .map(|node| &node.below)
            .filter(|set| !set.is_empty())
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.nodes
            .iter()
            .map(|(_, node)| usize::from(node.is_member) + node.below.len())
            .sum()
    }

    /// The paths of all members in the order of conflicts: the members of a value before those of
    /// its parts.
    pub fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        self.collect(&mut Vec::new(), &mut paths);
        paths
    }

    /// The direct children, with whether each is a member, and the members below it.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (&PathElement, bool, &Self)> {
        self.nodes
            .iter()
            .map(|(element, node)| (element, node.is_member, &node.below))
    }

    /// Adds a child with the members below it to those that are there.
    pub(crate) fn graft(&mut self, element: PathElement, is_member: bool, below: Self) {
        if !is_member && below.is_empty() {
            return;
        }
        self.node_mut(element).absorb(Node { is_member, below });
    }

    /// The node of a direct child.
    pub(super) fn node(&self, element: &PathElement) -> Option<&Node> {
        let index = self.find(element).ok()?;
        self.nodes.get(index).map(|(_, node)| node)
    }

    /// The node of a direct child, which is inserted if necessary. The caller must make it a member
    /// or add members below it.
    fn node_mut(&mut self, element: PathElement) -> &mut Node {
        let is_last = self.nodes.last().is_none_or(|(last, _)| *last < element);
        let found = if is_last {
            Err(self.nodes.len())
        } else {
            self.find(&element)
        };
        let index = found.unwrap_or_else(|index| {
            self.nodes.insert(index, (element, Node::default()));
            index
        });
        let (_, node) = self.nodes.get_mut(index).expect("found or inserted");
        node
    }

    fn find(&self, element: &PathElement) -> Result<usize, usize> {
        self.nodes.binary_search_by(|(step, _)| step.cmp(element))
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

/// Writes one member per line.
impl fmt::Display for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.paths().iter().map(Path::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}
