//! What proves to an API server who asks: tokens, passwords, client certificates, and plugins that
//! make them.

mod grant;
mod identity;
mod plugin;
mod reloaded;

pub(super) use grant::{Credentials, same};
pub(super) use identity::Identity;
pub(super) use reloaded::Reloaded;
