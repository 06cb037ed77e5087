//! The clusters of the kit, used as a test uses them.

mod differential;
mod embedded;
mod lifetime;
mod operator;
mod pool;
mod real;
