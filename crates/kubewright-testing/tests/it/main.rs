//! The clusters of the kit, used as a test uses them.

mod lifetime;
mod operator;
mod pool;
mod real;
