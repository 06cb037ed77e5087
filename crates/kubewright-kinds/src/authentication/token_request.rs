//! TokenRequest: issues a token for a ServiceAccount.

use crate::groups;
use crate::kind::BuiltinKind;

/// Issues a token for a ServiceAccount.
pub static TOKEN_REQUEST: BuiltinKind =
    BuiltinKind::subresource(groups::AUTHENTICATION, "TokenRequest", "token");
