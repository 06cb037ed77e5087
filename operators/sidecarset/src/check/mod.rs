//! What a set must have before it is stored; all faults are told at once, each with its field.

mod container;
mod names;
mod neighbours;
mod set;
mod strategy;

pub use set::{Neighbours, check};
