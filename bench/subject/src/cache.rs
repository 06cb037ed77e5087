//! The measurement of a cache that holds Pods.

use std::fmt;
use std::hint::black_box;
use std::time::Duration;

use crate::error::Error;
use crate::listed::Listed;
use crate::measurement::Measurement;
use crate::memory::{peak_mb, resident_mb};
use crate::metric::Metric;
use crate::timing::median_seconds;

const GET_PASSES: usize = 3;
const LIST_PASSES: usize = 5;
/// Few enough for every cache that keeps decoded objects to keep these.
const HOT_KEYS: usize = 100;
/// Equal for all sizes, because the lookup is measured, not the share of the processor's caches
/// that the keys take.
const FOUND_KEYS: usize = 1000;
const FIND_PASSES: usize = 25;

/// A cache of Pods that a reconciler has read once.
pub trait CachedPods {
    /// The key of an object.
    type Key: fmt::Display;
    /// The result of a read.
    type Object;

    /// Reads one object as a user would.
    fn get(&self, key: &Self::Key) -> Result<Option<Self::Object>, Error>;

    /// Returns how many objects an index finds under the name of an object; `None` if the subject
    /// has no such index.
    fn find(&self, _key: &Self::Key) -> Result<Option<usize>, Error> {
        Ok(None)
    }

    /// Lists all objects, typed, and reads the seven fields of each.
    fn list(&self) -> Result<Listed, Error>;
}

/// Measures a cache after all objects were reconciled, and prints the measurements.
///
/// `keys` are the keys of all objects in order; `reconciled` are the objects that the reconciler
/// read. The peak memory is read before the reads of the cache: the copies that a list makes are no
/// cost of the start.
///
/// # Cancel safety
///
/// If the future is dropped, only some of the measurements are printed.
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
    let hot_keys = || all().take(HOT_KEYS).cycle().take(keys.len());
    read_each(cache, all().take(HOT_KEYS))?;
    let hot = median_seconds(GET_PASSES, || read_each(cache, hot_keys()))?;
    Measurement::cost(Metric::GetHotUs, micros_each(hot, keys.len()))?.print()?;

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
