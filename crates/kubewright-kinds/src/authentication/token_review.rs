//! TokenReview: authenticates a token.

use crate::groups;
use crate::kind::BuiltinKind;

/// Authenticates a token.
pub static TOKEN_REVIEW: BuiltinKind =
    BuiltinKind::request(groups::AUTHENTICATION, "TokenReview", "tokenreviews");
