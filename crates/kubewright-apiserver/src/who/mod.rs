//! Who sends a request: users, ServiceAccount tokens, client certificates, impersonation.

mod authenticate;
mod certificate;
mod impersonate;
mod token;
mod token_request;
mod token_review;
mod user;

pub(crate) use authenticate::{Credentials, authenticate};
pub(crate) use certificate::user_of_certificate;
pub(crate) use impersonate::Impersonation;
pub(crate) use token::{BoundReference, Directory, TokenSigner};
pub(crate) use token_request::{TokenRequest, answer_token_request};
pub(crate) use token_review::{answer_token_review, user_info};
pub use user::User;
