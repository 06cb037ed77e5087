//! Text encodings of files.

/// The text of a file in UTF-8, or in the encoding of its byte order mark: some editors on Windows
/// write UTF-16. None when the bytes are not valid in that encoding.
pub(super) fn text_of(bytes: Vec<u8>) -> Option<String> {
    match bytes.as_slice() {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8(rest.to_vec()).ok(),
        _ => String::from_utf8(bytes).ok(),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let units: Vec<u16> = pairs.iter().copied().map(unit).collect();
    String::from_utf16(&units).ok()
}

#[cfg(test)]
mod tests {
    use super::text_of;

    #[test]
    fn byte_order_mark_sets_the_encoding() {
        let little = [0xFF, 0xFE, b'a', 0, 0x3D, 0xD8, 0, 0xDE];
        let big = [0xFE, 0xFF, 0, b'a', 0xD8, 0x3D, 0xDE, 0];
        let marked = [b"\xEF\xBB\xBF".as_slice(), "a\u{1F600}".as_bytes()].concat();
        let plain = "a\u{1F600}".as_bytes();
        for bytes in [&little[..], &big[..], &marked[..], plain] {
            assert_eq!(text_of(bytes.to_vec()).as_deref(), Some("a\u{1F600}"));
        }
        let (odd, half) = ([0xFF, 0xFE, b'a'], [0xFE, 0xFF, 0xD8, 0x3D]);
        for broken in [&odd[..], &half[..], &b"\xC3"[..]] {
            assert_eq!(text_of(broken.to_vec()), None);
        }
    }
}
