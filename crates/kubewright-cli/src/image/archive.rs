//! A tar archive with reproducible bytes.

use std::collections::BTreeSet;

/// A tar archive whose bytes depend only on its entries and their order: it has no times and no
/// owners.
///
/// The format is `ustar` of POSIX.1-1988, which every reader supports.
#[derive(Debug, Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    folders: BTreeSet<String>,
}

const BLOCK: usize = 512;

/// The type of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryType {
    File,
    Program,
    Folder,
}

impl Archive {
    /// Adds a file that is not executable.
    pub(super) fn file(&mut self, path: &str, content: &[u8]) {
        self.add(path, content, EntryType::File);
    }

    /// Adds a program or a library.
    pub(super) fn program(&mut self, path: &str, content: &[u8]) {
        self.add(path, content, EntryType::Program);
    }

    /// Returns the bytes of the archive.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.resize(self.bytes.len() + 2 * BLOCK, 0);
        self.bytes
    }

    fn add(&mut self, path: &str, content: &[u8], entry: EntryType) {
        let relative = path.trim_start_matches('/');
        for (slash, _) in relative.match_indices('/') {
            let folder = relative.get(..=slash).unwrap_or_default();
            if self.folders.insert(folder.to_owned()) {
                self.bytes.extend(header(folder, 0, EntryType::Folder));
            }
        }
        self.bytes.extend(header(relative, content.len(), entry));
        self.bytes.extend(content);
        let padding = content.len().next_multiple_of(BLOCK) - content.len();
        self.bytes.resize(self.bytes.len() + padding, 0);
    }
}

fn header(path: &str, size: usize, entry: EntryType) -> [u8; BLOCK] {
    let mut header = [0; BLOCK];
    let mode = match entry {
        EntryType::File => "0000644\0",
        EntryType::Program | EntryType::Folder => "0000755\0",
    };
    let type_flag = match entry {
        EntryType::File | EntryType::Program => "0",
        EntryType::Folder => "5",
    };
    let size = format!("{size:011o}\0");
    let fields: [(usize, &str); 10] = [
        (0, path),
        (100, mode),
        (108, "0000000\0"),
        (116, "0000000\0"),
        (124, &size),
        (136, "00000000000\0"),
        (148, "        "), // the checksum is computed with blanks in its place
        (156, type_flag),
        (257, "ustar\0"),
        (263, "00"),
    ];
    for (start, text) in fields {
        put(&mut header, start, text);
    }
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    put(&mut header, 148, &format!("{sum:06o}\0 "));
    header
}

fn put(header: &mut [u8; BLOCK], start: usize, text: &str) {
    for (target, byte) in header.iter_mut().skip(start).zip(text.bytes()) {
        *target = byte;
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::Archive;

    #[test]
    fn tar_lists_the_entries_of_an_archive() {
        let mut archive = Archive::default();
        archive.program("/lib64/ld.so", b"loader");
        archive.file("lib64/notes", &[b'x'; 1000]);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.tar");
        std::fs::write(&file, archive.finish()).unwrap();
        let output = Command::new("tar")
            .args(["--numeric-owner", "--utc", "-tvf"])
            .arg(&file)
            .output()
            .unwrap();
        let listed = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<Vec<&str>> = listed
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(
            lines,
            [
                ["drwxr-xr-x", "0/0", "0", "1970-01-01", "00:00", "lib64/"],
                [
                    "-rwxr-xr-x",
                    "0/0",
                    "6",
                    "1970-01-01",
                    "00:00",
                    "lib64/ld.so"
                ],
                [
                    "-rw-r--r--",
                    "0/0",
                    "1000",
                    "1970-01-01",
                    "00:00",
                    "lib64/notes"
                ],
            ]
        );
    }
}
