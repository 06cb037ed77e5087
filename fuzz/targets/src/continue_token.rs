//! Target for continue tokens of paginated lists.

use kubewright_wire::continue_token::ContinueToken;

/// A continue token is rejected, or decodes to the same token after it is encoded again.
///
/// # Panics
///
/// When that does not hold.
pub fn continue_token(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(token) = ContinueToken::decode(&text) {
        assert_eq!(ContinueToken::decode(&token.encode()), Ok(token), "{text}");
    }
}
