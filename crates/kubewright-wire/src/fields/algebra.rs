//! Union, intersection and difference of field sets.

use super::set::{FieldSet, Node};

impl FieldSet {
    /// The members of either set.
    #[must_use]
    pub fn union(mut self, other: Self) -> Self {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        self.nodes.extend(other.nodes);
        Self::of(self.nodes)
    }

    /// The members of both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let both = self.nodes.iter().filter_map(|(element, node)| {
            let theirs = other.node(element)?;
            let common = Node {
                is_member: node.is_member && theirs.is_member,
                below: node.below.intersection(&theirs.below),
            };
            (!common.is_empty()).then(|| (element.clone(), common))
        });
        Self {
            nodes: both.collect(),
        }
    }

    /// The members of this set that are not members of the other. Members below a member of the
    /// other stay.
    #[must_use]
    pub fn difference(mut self, other: &Self) -> Self {
        self.subtract(other, &mut |node, theirs| {
            node.is_member &= !theirs.is_member;
            node.below = std::mem::take(&mut node.below).difference(&theirs.below);
        });
        self
    }

    /// The members of this set that neither are members of the other nor are below one.
    #[must_use]
    pub fn recursive_difference(mut self, other: &Self) -> Self {
        self.subtract(other, &mut |node, theirs| {
            if theirs.is_member {
                *node = Node::default();
            } else {
                node.below = std::mem::take(&mut node.below).recursive_difference(&theirs.below);
            }
        });
        self
    }

    /// Reduces the nodes that both have, and removes those that become empty.
    fn subtract(&mut self, other: &Self, reduce: &mut dyn FnMut(&mut Node, &Node)) {
        if self.is_empty() || other.is_empty() {
            return;
        }
        self.nodes.retain_mut(|(element, node)| {
            if let Some(theirs) = other.node(element) {
                reduce(node, theirs);
            }
            !node.is_empty()
        });
    }
}
