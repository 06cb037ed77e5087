//! The names of fields, each stored once per process.
//!
//! It is append-only: the word of an id never changes, so records need no version and readers no
//! lock. Words are leaked on purpose; [`CAPACITY`] and [`MAX_LENGTH`] limit their memory, and other
//! words are written into the record itself.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

use parking_lot::Mutex;

use super::words::WORDS;

/// The most words.
pub(super) const CAPACITY: usize = 16_000;
/// The longest word, in bytes.
pub(super) const MAX_LENGTH: usize = 64;

const CHUNK: usize = 256;
const CHUNKS: usize = CAPACITY.div_ceil(CHUNK);
/// At least twice the capacity, so that probes stay short.
const SLOTS: usize = 1 << 15;
/// Words that would need a longer probe are not added, so that colliding names do not slow encoders
/// down.
const MAX_PROBE: usize = 32;

type Chunk = Box<[OnceLock<&'static str>]>;

/// Words by id, in chunks that are allocated when first needed.
static BY_ID: [OnceLock<Chunk>; CHUNKS] = [const { OnceLock::new() }; CHUNKS];
/// A hash table with open addressing: a slot is an id plus one, or zero.
static BY_WORD: [AtomicU16; SLOTS] = [const { AtomicU16::new(0) }; SLOTS];
/// The number of words; locked while one is added.
static COUNT: Mutex<usize> = Mutex::new(0);
static SEEDED: OnceLock<()> = OnceLock::new();

/// The word with this id.
pub(super) fn word(id: usize) -> Option<&'static str> {
    let chunk = BY_ID.get(id / CHUNK)?.get()?;
    chunk.get(id % CHUNK)?.get().copied()
}

/// The id of a word that has been added.
pub(super) fn find(text: &str) -> Option<usize> {
    SEEDED.get_or_init(seed);
    match probe(text) {
        Probe::Found(id) => Some(id),
        Probe::Free(_) | Probe::Crowded => None,
    }
}

/// The id of a word, which is added if it is new; `None` when it is too long or the dictionary is
/// full.
pub(super) fn intern(text: &str) -> Option<usize> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    SEEDED.get_or_init(seed);
    match probe(text) {
        Probe::Found(id) => Some(id),
        Probe::Free(_) => add(text),
        Probe::Crowded => None,
    }
}

fn seed() {
    for word in WORDS {
        add(word);
    }
}

fn add(text: &str) -> Option<usize> {
    let mut count = COUNT.lock();
    // Another thread may have added the word, or used the slot, before this one got the lock.
    let slot = match probe(text) {
        Probe::Found(id) => return Some(id),
        Probe::Free(slot) => slot,
        Probe::Crowded => return None,
    };
    let id = *count;
    if id >= CAPACITY {
        return None;
    }
    let chunk = BY_ID[id / CHUNK]
        .get_or_init(|| std::iter::repeat_with(OnceLock::new).take(CHUNK).collect());
    let word: &'static str = Box::leak(text.to_owned().into_boxed_str());
    chunk[id % CHUNK]
        .set(word)
        .expect("ids are given once, under the lock");
    let stored = u16::try_from(id + 1).expect("the capacity is below u16::MAX");
    // Release: a thread that reads this id also reads its word.
    BY_WORD[slot].store(stored, Ordering::Release);
    *count += 1;
    Some(id)
}

enum Probe {
    Found(usize),
    Free(usize),
    Crowded,
}

fn probe(text: &str) -> Probe {
    let start = hash(text.as_bytes());
    for step in 0..MAX_PROBE {
        let slot = (start + step) % SLOTS;
        let stored = usize::from(BY_WORD[slot].load(Ordering::Acquire));
        if stored == 0 {
            return Probe::Free(slot);
        }
        if word(stored - 1) == Some(text) {
            return Probe::Found(stored - 1);
        }
    }
    Probe::Crowded
}

/// Multiply and rotate over eight bytes at a time; the words are short.
fn hash(bytes: &[u8]) -> usize {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let eight = chunk.try_into().expect("chunks of exactly eight bytes");
        state = (state.rotate_left(5) ^ u64::from_le_bytes(eight)).wrapping_mul(FACTOR);
    }
    let mut tail = [0; 8];
    for (to, from) in tail.iter_mut().zip(chunks.remainder()) {
        *to = *from;
    }
    state = (state.rotate_left(5) ^ u64::from_le_bytes(tail)).wrapping_mul(FACTOR);
    usize::from(u16::try_from(state >> 49).expect("15 bits remain"))
}

#[cfg(test)]
mod tests {
    use super::{MAX_LENGTH, find, intern, word};

    #[test]
    fn word_has_one_id_and_is_found_by_it() {
        let id = intern("aWordOfThisTest").unwrap();
        assert_eq!(intern("aWordOfThisTest"), Some(id));
        assert_eq!(find("aWordOfThisTest"), Some(id));
        assert_eq!(word(id), Some("aWordOfThisTest"));
    }

    #[test]
    fn lookup_adds_nothing_and_long_words_are_not_added() {
        assert_eq!(find("neverAddedByAnyTest"), None);
        assert_eq!(find("neverAddedByAnyTest"), None);
        assert_eq!(intern(&"x".repeat(MAX_LENGTH + 1)), None);
    }

    #[test]
    fn most_common_names_have_ids_of_one_byte() {
        for name in ["metadata", "name", "spec", "status", "uid"] {
            assert!(find(name).unwrap() < 100, "{name}");
        }
    }

    #[test]
    fn threads_that_add_the_same_words_agree_on_ids() {
        let add_all = || -> Vec<_> { (0..500).map(|n| intern(&format!("raced{n}"))).collect() };
        let (first, second) = std::thread::scope(|scope| {
            let threads = (scope.spawn(add_all), scope.spawn(add_all));
            (threads.0.join().unwrap(), threads.1.join().unwrap())
        });
        assert_eq!(first, second);
        for (number, id) in first.into_iter().enumerate() {
            assert_eq!(word(id.unwrap()).unwrap(), format!("raced{number}"));
        }
    }
}
