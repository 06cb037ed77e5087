//! Credentials of a client: tokens, passwords, client certificates, and exec plugins that issue
//! them.

mod authorization;
mod grant;
mod identity;
mod plugin;
mod reloaded;
mod user;

pub(super) use grant::is_same_identity;
pub(super) use identity::Identity;
pub(super) use reloaded::Reloaded;
pub(super) use user::Credentials;
