//! Times in objects.

use jiff::Timestamp;

/// A time as objects have it: whole seconds, UTC.
pub fn timestamp(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
