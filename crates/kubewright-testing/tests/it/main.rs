//! The clusters of the kit, used as a test uses them.

mod real;
