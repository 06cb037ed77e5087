//! A webhook of any type, as an argument of `Operator::webhook`.

use super::builder::Webhook;
use super::conversion::Conversion;

/// A webhook that [`Operator::webhook`](crate::Operator::webhook) registers.
#[derive(Debug)]
#[non_exhaustive]
pub enum AnyWebhook {
    /// Called before an object is stored.
    Admission(Webhook),
    /// Called to convert an object to another version.
    Conversion(Conversion),
}

impl From<Webhook> for AnyWebhook {
    fn from(webhook: Webhook) -> Self {
        Self::Admission(webhook)
    }
}

impl From<Conversion> for AnyWebhook {
    fn from(conversion: Conversion) -> Self {
        Self::Conversion(conversion)
    }
}
