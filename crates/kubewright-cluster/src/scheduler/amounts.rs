use std::collections::BTreeMap;

use serde_json::Value;

use crate::view::{items, text};

/// How much of each resource, in thousandths of its unit: `cpu`, `memory`, `example.com/gpu`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Amounts {
    of: BTreeMap<String, i128>,
}

impl Amounts {
    /// A map from resources to quantities; what is no quantity is left out.
    pub(super) fn read(quantities: Option<&Value>) -> Self {
        let members = quantities.and_then(Value::as_object).into_iter().flatten();
        let amount = |(name, quantity): (&String, &Value)| {
            let thousandths = match quantity {
                Value::String(text) => thousandths(text)?,
                Value::Number(number) => thousandths(&number.to_string())?,
                _ => return None,
            };
            Some((name.clone(), thousandths))
        };
        Self {
            of: members.filter_map(amount).collect(),
        }
    }

    /// What a Pod asks for (`PodRequests` of k8s.io/component-helpers): its containers together
    /// with the sidecars, or more where a container that comes first asks for more.
    pub(super) fn of_pod(spec: &Value) -> Self {
        let requests = |container: &Value| Self::read(container.pointer("/resources/requests"));
        let mut together = Self::default();
        for container in items(spec, "/containers") {
            together.add(&requests(container));
        }
        let (mut sidecars, mut first) = (Self::default(), Self::default());
        for container in items(spec, "/initContainers") {
            let mut asked = requests(container);
            if text(container, "/restartPolicy") == "Always" {
                sidecars.add(&asked);
                together.add(&asked);
                asked = sidecars.clone();
            } else {
                asked.add(&sidecars);
            }
            first.raise(&asked);
        }
        together.raise(&first);
        let whole = Self::read(spec.pointer("/resources/requests"));
        together.of.extend(whole.of);
        together.add(&Self::read(spec.pointer("/overhead")));
        together
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (name, amount) in &other.of {
            *self.of.entry(name.clone()).or_default() += amount;
        }
    }

    pub(super) fn subtract(&mut self, other: &Self) {
        for (name, amount) in &other.of {
            *self.of.entry(name.clone()).or_default() -= amount;
        }
    }

    /// The resources of which less is left than is asked for.
    pub(super) fn lacking(&self, used: &Self, asked: &Self) -> Vec<String> {
        let of = |amounts: &Self, name: &str| amounts.of.get(name).copied().unwrap_or_default();
        let lacks = |(name, amount): &(&String, &i128)| {
            **amount > 0 && of(self, name) - of(used, name) < **amount
        };
        let lacking = asked.of.iter().filter(lacks);
        lacking.map(|(name, _)| name.clone()).collect()
    }

    /// Takes the larger amount of each.
    fn raise(&mut self, other: &Self) {
        for (name, amount) in &other.of {
            let own = self.of.entry(name.clone()).or_default();
            *own = (*own).max(*amount);
        }
    }
}

/// A quantity in thousandths, rounded up (`k8s.io/apimachinery/pkg/api/resource`).
fn thousandths(quantity: &str) -> Option<i128> {
    let digits = quantity
        .find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | '+' | '-'))
        .unwrap_or(quantity.len());
    let (number, suffix) = quantity.split_at_checked(digits)?;
    let exponent = suffix
        .strip_prefix(['e', 'E'])
        .and_then(|exponent| exponent.parse::<i32>().ok());
    let (base, power): (i128, i32) = match suffix {
        "" => (10, 0),
        "n" => (10, -9),
        "u" => (10, -6),
        "m" => (10, -3),
        "k" => (10, 3),
        "M" => (10, 6),
        "G" => (10, 9),
        "T" => (10, 12),
        "P" => (10, 15),
        "E" => (10, 18),
        "Ki" => (1024, 1),
        "Mi" => (1024, 2),
        "Gi" => (1024, 3),
        "Ti" => (1024, 4),
        "Pi" => (1024, 5),
        "Ei" => (1024, 6),
        _ => (10, exponent?),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let places = i32::try_from(fraction.len()).ok()?;
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let (up, down) = match base {
        1024 => (
            1024_i128.checked_pow(u32::try_from(power).ok()?)?,
            10_i128.checked_pow(u32::try_from(places).ok()?)?,
        ),
        _ => {
            let power = power - places;
            let scale = 10_i128.checked_pow(power.unsigned_abs())?;
            if power < 0 { (1, scale) } else { (scale, 1) }
        }
    };
    let scaled = digits.checked_mul(1000)?.checked_mul(up)?;
    Some(scaled.div_euclid(down) + i128::from(scaled.rem_euclid(down) != 0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Amounts, thousandths};

    #[test]
    fn quantities_are_read_in_every_spelling() {
        for (wanted, text) in [
            (Some(100), "100m"),
            (Some(1500), "1.5"),
            (Some(1000), "1"),
            (Some(1_073_741_824_000), "1Gi"),
            (Some(1_536_000), "1.5Ki"),
            (Some(2_000_000), "2k"),
            (Some(5_000_000), "5e3"),
            (Some(1), "1n"),
            (None, "much"),
            (None, ""),
        ] {
            assert_eq!(thousandths(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_pod_asks_for_its_containers_or_for_the_largest_that_comes_first() {
        let asks = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu}}});
        let mut sidecar = asks("1");
        sidecar["restartPolicy"] = "Always".into();
        let spec = json!({
            "initContainers": [asks("5"), sidecar, asks("3")],
            "containers": [asks("1"), asks("500m")],
            "overhead": {"cpu": "100m"},
        });
        let wanted = Amounts::read(Some(&json!({"cpu": "5100m"})));
        assert_eq!(Amounts::of_pod(&spec), wanted);
        let spec = json!({"initContainers": [spec["initContainers"][1]], "containers": spec["containers"]});
        assert_eq!(
            Amounts::of_pod(&spec),
            Amounts::read(Some(&json!({"cpu": "2.5"})))
        );
    }

    #[test]
    fn what_is_lacking_is_named() {
        let room = Amounts::read(Some(&json!({"cpu": "2", "example.com/gpu": "1"})));
        let used = Amounts::read(Some(&json!({"cpu": "1500m"})));
        let asked = |value| Amounts::read(Some(&value));
        let lacking = |value| room.lacking(&used, &asked(value));
        assert_eq!(
            lacking(json!({"cpu": "500m", "example.com/gpu": "1"})),
            [""; 0]
        );
        assert_eq!(
            lacking(json!({"cpu": "501m", "example.com/gpu": "2", "memory": "0"})),
            ["cpu", "example.com/gpu"]
        );
    }
}
