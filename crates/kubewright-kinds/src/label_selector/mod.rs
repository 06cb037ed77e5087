//! Label selectors: as objects contain them, and their validation.

mod parse;
mod validation;

pub use parse::{label_selector, plain_selector};
pub(crate) use validation::{SelectorValues, validate_label_selector, validate_labels};
