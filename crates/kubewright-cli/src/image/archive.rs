use std::collections::BTreeSet;

/// A tar archive whose bytes follow from its content alone: no times, no owners, in the order in
/// which it is filled.
///
/// The form is `ustar`, POSIX.1-1988, which every reader knows.
#[derive(Debug, Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    folders: BTreeSet<String>,
}

const BLOCK: usize = 512;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    File,
    Program,
    Folder,
}

impl Archive {
    /// Adds a file that nobody runs.
    pub(super) fn file(&mut self, path: &str, content: &[u8]) {
        self.add(path, content, Entry::File);
    }

    /// Adds a program or a library.
    pub(super) fn program(&mut self, path: &str, content: &[u8]) {
        self.add(path, content, Entry::Program);
    }

    /// The whole archive.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.resize(self.bytes.len() + 2 * BLOCK, 0);
        self.bytes
    }

    fn add(&mut self, path: &str, content: &[u8], entry: Entry) {
        let path = path.trim_start_matches('/');
        for (at, _) in path.match_indices('/') {
            let folder: String = path.chars().take(at + 1).collect();
            if self.folders.insert(folder.clone()) {
                self.bytes.extend(header(&folder, 0, Entry::Folder));
            }
        }
        self.bytes.extend(header(path, content.len(), entry));
        self.bytes.extend(content);
        let rest = content.len().next_multiple_of(BLOCK) - content.len();
        self.bytes.resize(self.bytes.len() + rest, 0);
    }
}

fn header(path: &str, size: usize, entry: Entry) -> [u8; BLOCK] {
    let mut header = [0; BLOCK];
    let mode = match entry {
        Entry::File => "0000644\0",
        Entry::Program | Entry::Folder => "0000755\0",
    };
    let kind = match entry {
        Entry::File | Entry::Program => "0",
        Entry::Folder => "5",
    };
    let size = format!("{size:011o}\0");
    let fields: [(usize, &str); 10] = [
        (0, path),
        (100, mode),
        (108, "0000000\0"),
        (116, "0000000\0"),
        (124, &size),
        (136, "00000000000\0"),
        (148, "        "), // the checksum is counted with blanks in its place
        (156, kind),
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
    for (place, byte) in header.iter_mut().skip(start).zip(text.bytes()) {
        *place = byte;
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::Archive;

    #[test]
    fn tar_itself_reads_what_was_put_in() {
        let mut archive = Archive::default();
        archive.program("/lib64/ld.so", b"loader");
        archive.file("lib64/notes", &[b'x'; 1000]);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.tar");
        std::fs::write(&file, archive.finish()).unwrap();
        let listed = Command::new("tar")
            .args(["--numeric-owner", "--utc", "-tvf"])
            .arg(&file)
            .output()
            .unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
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
