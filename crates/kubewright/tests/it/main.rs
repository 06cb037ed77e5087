//! What a user of the facade meets.

mod description;
mod must_fail;
