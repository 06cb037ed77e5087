//! What the layout of the workspace promises.

mod architecture;
