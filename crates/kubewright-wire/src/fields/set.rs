use std::fmt;

use super::{Path, PathElement};

/// A set of fields of an object.
///
/// A field and the fields below it are members independently: `.data` without `.data.x` says
/// that the map itself is owned, `.data.x` alone that only this entry is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Sorted by their steps, each step once. No node is without both membership and members
    /// below it. Most have a few steps, for which a map would take ten times the memory.
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

    /// Adds the members of another node of the same step.
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

    /// A set of these steps, in any order; of a step that is there twice all members count.
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

    /// Adds one field; those above it stay as they are. The empty path is nobody's.
    pub fn insert(&mut self, path: &[PathElement]) {
        let Some((last, above)) = path.split_last() else {
            return;
        };
        let mut set = self;
        for element in above {
            set = &mut set.node_mut(element.clone()).below;
        }
        set.node_mut(last.clone()).is_member = true;
    }

    /// Whether the field is a member.
    pub fn contains(&self, path: &[PathElement]) -> bool {
        let Some((last, above)) = path.split_last() else {
            return false;
        };
        let mut set = self;
        for element in above {
            match set.node(element) {
                Some(node) => set = &node.below,
                None => return false,
            }
        }
        set.has_member(last)
    }

    /// Whether the field right below is a member.
    pub fn has_member(&self, element: &PathElement) -> bool {
        self.node(element).is_some_and(|node| node.is_member)
    }

    /// The members below one field, as seen from there; none when there are none.
    pub fn below(&self, element: &PathElement) -> Option<&Self> {
        self.node(element)
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
            .iter()
            .map(|(_, node)| usize::from(node.is_member) + node.below.len())
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
        self.node_mut(element).absorb(Node { is_member, below });
    }

    /// The node of a step.
    pub(super) fn node(&self, element: &PathElement) -> Option<&Node> {
        let index = self.find(element).ok()?;
        self.nodes.get(index).map(|(_, node)| node)
    }

    /// The node of a step, made if it is not there: the caller makes it one that is not empty.
    fn node_mut(&mut self, element: PathElement) -> &mut Node {
        let is_last = self.nodes.last().is_none_or(|(last, _)| *last < element);
        let index = match is_last {
            true => Err(self.nodes.len()),
            false => self.find(&element),
        };
        let index = index.unwrap_or_else(|index| {
            self.nodes.insert(index, (element, Node::default()));
            index
        });
        let (_, node) = self.nodes.get_mut(index).expect("found or put there");
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

/// One member a line.
impl fmt::Display for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.paths().iter().map(Path::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}
