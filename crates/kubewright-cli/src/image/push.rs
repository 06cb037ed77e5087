//! Pushes an image to a registry.

use std::time::Duration;

use tokio::time::{Instant, interval_at};

use super::layout::Image;
use super::reference::Reference;
use super::registry::Registry;
use crate::error::Error;
use crate::output::note;

/// The interval of progress lines during an upload.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

/// Pushes an image to a registry, part by part. Parts that the registry has are not sent again.
///
/// # Cancel safety
///
/// Dropping the future leaves parts in the registry that no image refers to; another run continues
/// from there.
pub(super) async fn push(image: &Image, reference: &Reference) -> Result<(), Error> {
    let mut registry = Registry::of(reference)?;
    let count = image.parts.len();
    for (position, part) in image.parts.iter().enumerate() {
        let size = megabytes(part.bytes.len());
        let label = format!("{} of {count}: {} ({size})", position + 1, part.digest);
        if registry.has(part).await? {
            note(format_args!("exists   {label}"));
            continue;
        }
        note(format_args!("pushing  {label}"));
        with_progress(&label, registry.upload(part)).await?;
    }
    for manifest in &image.manifests {
        registry.put(manifest, &manifest.digest).await?;
    }
    registry.put(&image.root, &reference.tag).await?;
    note(format_args!("pushed   {reference}"));
    Ok(())
}

/// Prints a progress line at an interval until the work is done.
async fn with_progress<T>(label: &str, work: impl Future<Output = T>) -> T {
    let start = Instant::now();
    let mut ticks = interval_at(start + PROGRESS_INTERVAL, PROGRESS_INTERVAL);
    tokio::pin!(work);
    loop {
        tokio::select! {
            result = &mut work => return result,
            _ = ticks.tick() => note(format_args!(
                "pushing  {label}, for {} s",
                start.elapsed().as_secs()
            )),
        }
    }
}

/// Formats a size in megabytes, rounded up.
pub(super) fn megabytes(bytes: usize) -> String {
    let tenths = bytes.div_ceil(100_000);
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::megabytes;

    #[test]
    fn sizes_are_rounded_up() {
        assert_eq!(
            [0, 1, 8_050_000].map(megabytes),
            ["0.0 MB", "0.1 MB", "8.1 MB"]
        );
    }
}
