use super::set::Node;
use super::{FieldSet, PathElement};

impl FieldSet {
    /// The members of either set.
    #[must_use]
    pub fn union(mut self, other: &Self) -> Self {
        for (element, node) in &other.nodes {
            match self.nodes.get_mut(element) {
                Some(mine) => {
                    mine.is_member |= node.is_member;
                    mine.below = std::mem::take(&mut mine.below).union(&node.below);
                }
                None => {
                    self.nodes.insert(element.clone(), node.clone());
                }
            }
        }
        self
    }

    /// The members of both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.combine(|element, node| {
            let theirs = other.nodes.get(element)?;
            Some(Node {
                is_member: node.is_member && theirs.is_member,
                below: node.below.intersection(&theirs.below),
            })
        })
    }

    /// The members of this set that are not members of the other. What stands below a member of
    /// the other stays.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.combine(|element, node| {
            let Some(theirs) = other.nodes.get(element) else {
                return Some(node.clone());
            };
            Some(Node {
                is_member: node.is_member && !theirs.is_member,
                below: node.below.difference(&theirs.below),
            })
        })
    }

    /// The members of this set that neither are members of the other nor stand below one.
    #[must_use]
    pub fn recursive_difference(&self, other: &Self) -> Self {
        self.combine(|element, node| {
            let Some(theirs) = other.nodes.get(element) else {
                return Some(node.clone());
            };
            if theirs.is_member {
                return None;
            }
            Some(Node {
                is_member: node.is_member,
                below: node.below.recursive_difference(&theirs.below),
            })
        })
    }

    fn combine(&self, mut keep: impl FnMut(&PathElement, &Node) -> Option<Node>) -> Self {
        let nodes = self
            .nodes
            .iter()
            .filter_map(|(element, node)| Some((element.clone(), keep(element, node)?)))
            .filter(|(_, node)| node.is_member || !node.below.is_empty())
            .collect();
        Self { nodes }
    }
}
