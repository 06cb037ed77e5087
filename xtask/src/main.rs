//! The project's own chores: the control plane, the tables, the promises.

fn main() {}
