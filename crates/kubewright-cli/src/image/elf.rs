//! ELF files: whether a program is dynamic, and its loader.

/// Returns the path of the loader in a 64-bit ELF file; none for a static program.
///
/// The layout is that of the System V ABI, chapters 4 and 5: `e_phoff` at 32, `e_phentsize` at
/// 54, `e_phnum` at 56; of each program header `p_type` at 0, `p_offset` at 8, `p_filesz` at 32.
pub(super) fn interpreter(file: &[u8]) -> Option<String> {
    const INTERPRETER: u64 = 3;
    let is_64_bit_little_endian = file.starts_with(b"\x7fELF\x02\x01");
    if !is_64_bit_little_endian {
        return None;
    }
    let table = number(file, 32, 8)?;
    let size = number(file, 54, 2)?;
    let count = number(file, 56, 2)?;
    let headers = (0..count).map(|index| table + index * size);
    let mut headers = headers.filter(|at| number(file, *at, 4) == Some(INTERPRETER));
    let header = headers.next()?;
    let start = usize::try_from(number(file, header + 8, 8)?).ok()?;
    let length = usize::try_from(number(file, header + 32, 8)?).ok()?;
    let name = file.get(start..start.checked_add(length)?)?;
    let name = name.strip_suffix(b"\0").unwrap_or(name);
    String::from_utf8(name.to_vec()).ok()
}

/// Whether the file is an ELF file.
pub(super) fn is_elf(file: &[u8]) -> bool {
    file.starts_with(b"\x7fELF")
}

/// Reads a little-endian number of up to eight bytes.
fn number(file: &[u8], at: u64, length: usize) -> Option<u64> {
    let start = usize::try_from(at).ok()?;
    let bytes = file.get(start..start.checked_add(length)?)?;
    let value = bytes
        .iter()
        .rev()
        .fold(0, |value, byte| (value << 8) | u64::from(*byte));
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::{interpreter, is_elf};

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn dynamic_program_has_a_loader() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(is_elf(&own));
        let loader = interpreter(&own).unwrap();
        assert!(loader.contains("/ld-linux"), "{loader}");
    }

    #[test]
    fn truncated_file_and_script_have_no_loader() {
        assert_eq!(interpreter(b"#!/bin/sh\n"), None);
        assert_eq!(interpreter(b"\x7fELF\x02\x01\x01"), None);
    }
}
