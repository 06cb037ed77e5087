use std::fmt;
use std::hint::black_box;
use std::time::Duration;

use crate::{Error, Measurement, Metric, median_seconds, peak_mb, resident_mb};

const GET_PASSES: usize = 3;
const LIST_PASSES: usize = 5;
/// So few that any cache that keeps objects warm keeps these.
const HOT_KEYS: usize = 100;
/// As many in each size: else a large one would be charged for what its keys take of the
/// processor's caches, and not for the lookup.
const FOUND_KEYS: usize = 1000;
const FIND_PASSES: usize = 25;

/// A cache that holds Pods and was read once by a reconciler.
pub trait CachedPods {
    /// What names an object.
    type Key: fmt::Display;
    /// What a read hands out.
    type Object;

    /// Reads one object as a user would.
    fn get(&self, key: &Self::Key) -> Result<Option<Self::Object>, Error>;

    /// How many objects an index finds under the name of this one; none where the subject has no
    /// such index.
    fn find(&self, _key: &Self::Key) -> Result<Option<usize>, Error> {
        Ok(None)
    }

    /// Reads the seven fields of every object, typed, and drops each.
    fn list(&self) -> Result<Listed, Error>;
}

/// How many objects were read, and the sum over their seven fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// How many.
    pub objects: usize,
    /// The sum, within [`CHECKSUM_MASK`](crate::CHECKSUM_MASK).
    pub checksum: u64,
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} objects with checksum {}",
            self.objects, self.checksum
        )
    }
}

/// Prints what a cache costs once everything was reconciled: memory, reads, memory again.
///
/// `keys` are those of all objects in order, `reconciled` is what the reconciler read. Peak memory
/// is read before the reads, so that copies made by a list do not count as the cost of starting.
///
/// # Cancel safety
///
/// Dropping the future leaves the lines printed so far.
pub async fn measure_cache<C: CachedPods>(
    cache: &C,
    keys: &[C::Key],
    reconciled: Listed,
    settle: Duration,
) -> Result<(), Error> {
    tokio::time::sleep(settle).await;
    Measurement::cost(Metric::PeakMb, peak_mb()?)?.print()?;
    let settled = resident_mb()?;

    let all = || keys.iter();
    let cold = median_seconds(GET_PASSES, || read_each(cache, all()))?;
    Measurement::cost(Metric::GetColdUs, micros_each(cold, keys.len()))?.print()?;
    let hot = || all().take(HOT_KEYS).cycle().take(keys.len());
    read_each(cache, all().take(HOT_KEYS))?;
    let warm = median_seconds(GET_PASSES, || read_each(cache, hot()))?;
    Measurement::cost(Metric::GetHotUs, micros_each(warm, keys.len()))?.print()?;

    let mut listed = Listed::default();
    let list = median_seconds(LIST_PASSES, || {
        listed = cache.list()?;
        Ok::<_, Error>(())
    })?;
    Measurement::cost(Metric::ListMs, list * 1e3)?.print()?;
    measure_index(cache, keys)?;
    Measurement::cost(Metric::SettledMb, settled.max(resident_mb()?))?.print()?;

    let objects = u64::try_from(listed.objects).unwrap_or(u64::MAX);
    Measurement::count(Metric::Objects, objects).print()?;
    Measurement::count(Metric::Checksum, listed.checksum).print()?;
    if listed != reconciled {
        return Err(Error::Disagree { reconciled, listed });
    }
    Ok(())
}

fn measure_index<C: CachedPods>(cache: &C, keys: &[C::Key]) -> Result<(), Error> {
    let Some(first) = keys.first() else {
        return Ok(());
    };
    if cache.find(first)?.is_none() {
        return Ok(());
    }
    let step = (keys.len() / FOUND_KEYS).max(1);
    let keys: Vec<_> = keys.iter().step_by(step).take(FOUND_KEYS).collect();
    let seconds = median_seconds(FIND_PASSES, || {
        for key in &keys {
            if cache.find(key)? != Some(1) {
                let key = key.to_string();
                return Err(Error::Missing { key });
            }
        }
        Ok(())
    })?;
    Measurement::cost(Metric::IndexGetUs, micros_each(seconds, keys.len()))?.print()
}

fn read_each<'a, C: CachedPods>(
    cache: &C,
    keys: impl Iterator<Item = &'a C::Key>,
) -> Result<(), Error>
where
    C::Key: 'a,
{
    for key in keys {
        let object = cache.get(key)?.ok_or_else(|| Error::Missing {
            key: key.to_string(),
        })?;
        black_box(&object);
    }
    Ok(())
}

fn micros_each(seconds: f64, count: usize) -> f64 {
    let count = u32::try_from(count).unwrap_or(u32::MAX).max(1);
    seconds * 1e6 / f64::from(count)
}
