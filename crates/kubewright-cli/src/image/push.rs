use std::time::Duration;

use tokio::time::{Instant, interval_at};

use super::layout::Image;
use super::reference::Reference;
use super::registry::Registry;
use crate::error::Error;
use crate::output::note;

const SAY_AGAIN: Duration = Duration::from_secs(5);

/// Brings an image to a registry, part by part; what is there already is not sent again.
///
/// # Cancel safety
///
/// Dropping the future leaves parts in the registry that no image refers to; another run goes on
/// from there.
pub(super) async fn push(image: &Image, reference: &Reference) -> Result<(), Error> {
    let mut registry = Registry::of(reference)?;
    let count = image.parts.len();
    for (position, part) in image.parts.iter().enumerate() {
        let size = megabytes(part.bytes.len());
        let label = format!("{} of {count}: {} ({size})", position + 1, part.digest);
        if registry.has(part).await? {
            note(format_args!("there    {label}"));
            continue;
        }
        note(format_args!("pushing  {label}"));
        tell_while(&label, registry.upload(part)).await?;
    }
    for manifest in &image.manifests {
        registry.put(manifest, &manifest.digest).await?;
    }
    registry.put(&image.root, &reference.tag).await?;
    note(format_args!("pushed   {reference}"));
    Ok(())
}

/// Says every few seconds that something is still under way.
async fn tell_while<T>(label: &str, work: impl Future<Output = T>) -> T {
    let start = Instant::now();
    let mut ticks = interval_at(start + SAY_AGAIN, SAY_AGAIN);
    tokio::pin!(work);
    loop {
        tokio::select! {
            result = &mut work => return result,
            _ = ticks.tick() => note(format_args!(
                "still    {label}, {} s",
                start.elapsed().as_secs()
            )),
        }
    }
}

/// A size for people.
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
