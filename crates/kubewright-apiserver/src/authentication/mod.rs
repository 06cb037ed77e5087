//! Authentication: users, ServiceAccount tokens, client certificates.

mod authenticator;
mod certificate;
mod credentials;
mod token;
mod token_request;
mod token_review;
mod user;

pub(crate) use authenticator::Authenticator;
pub(crate) use certificate::user_of_certificate;
pub(crate) use credentials::Credentials;
#[cfg(feature = "disk")]
pub(crate) use token::TokenSigner;
pub(crate) use token_request::TokenRequest;
pub use user::User;
pub(crate) use user::{MASTERS, user_info};
