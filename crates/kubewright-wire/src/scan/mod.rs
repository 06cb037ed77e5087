//! Objects in a stream of bytes: the items of a list, the frames of a watch.
//!
//! The scanners take chunks that end at any byte and return each object as soon as it is complete,
//! so that a list of any size is read with the memory of its largest item. Of an object that is
//! larger than allowed they return the beginning, and continue after it.

mod error;
mod frame;
mod frames;
mod item;
mod lines;
mod list;
mod messages;
mod sized;

pub use error::ScanError;
pub use frame::{Bookmark, Frame, FrameKind};
pub use frames::FrameScanner;
pub use item::Item;
pub use lines::LineScanner;
pub use list::{ListEnd, ListScanner};
pub use messages::MessageScanner;
