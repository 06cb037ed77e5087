//! Settings of the suite from the environment.

use crate::Error;

const DEFAULT_SEQUENCES: u64 = 20;
const DEFAULT_SEED: u64 = 1;

/// Which cases and random sequences are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `KUBEWRIGHT_TEST_SEQUENCES`: how many random sequences are compared.
    pub sequences: u64,
    /// `KUBEWRIGHT_TEST_SEED`: the seed of the first sequence; the others have the next numbers.
    pub seed: u64,
    /// `KUBEWRIGHT_TEST_CASES`: the only cases that are compared, by name or by row of
    /// `docs/fidelity.md`, separated by commas. If empty, all cases are compared.
    pub cases: Vec<String>,
}

impl Settings {
    /// Reads the environment.
    pub fn from_environment() -> Result<Self, Error> {
        let variable = |name: &str| std::env::var_os(name)?.into_string().ok();
        Self::read(&|name| variable(name).filter(|value| !value.is_empty()))
    }

    fn read(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let number = |name: &'static str, default: u64| {
            variable(name).map_or(Ok(default), |value| {
                value.parse().map_err(|_| Error::Setting {
                    variable: name,
                    value,
                    expected: "a number",
                })
            })
        };
        let cases = variable("KUBEWRIGHT_TEST_CASES").unwrap_or_default();
        let cases = cases.split(',').map(str::trim).map(str::to_owned);
        Ok(Self {
            sequences: number("KUBEWRIGHT_TEST_SEQUENCES", DEFAULT_SEQUENCES)?,
            seed: number("KUBEWRIGHT_TEST_SEED", DEFAULT_SEED)?,
            cases: cases.filter(|name| !name.is_empty()).collect(),
        })
    }

    /// Whether a case was selected.
    pub fn selects(&self, case: &crate::Case) -> bool {
        let names = &self.cases;
        names.is_empty() || names.contains(&case.name) || names.contains(&case.row)
    }
}

#[cfg(test)]
mod tests {
    use super::Settings;

    fn read(variables: &[(&str, &str)]) -> Result<Settings, crate::Error> {
        Settings::read(&|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn empty_environment_selects_everything() {
        let settings = read(&[]).unwrap();
        assert_eq!((settings.sequences, settings.seed), (20, 1));
        assert!(settings.selects(&crate::Case::default()));
    }

    #[test]
    fn cases_are_selected_by_name_or_row() {
        let settings = read(&[("KUBEWRIGHT_TEST_CASES", "watch, V1")]).unwrap();
        let case = |name: &str, row: &str| crate::Case {
            name: name.to_owned(),
            row: row.to_owned(),
            ..crate::Case::default()
        };
        assert!(settings.selects(&case("watch", "W1")));
        assert!(settings.selects(&case("other", "V1")));
        assert!(!settings.selects(&case("other", "W1")));
    }

    #[test]
    fn invalid_number_is_an_error() {
        let error = read(&[("KUBEWRIGHT_TEST_SEED", "seven")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "read KUBEWRIGHT_TEST_SEED=\"seven\": not a number"
        );
    }
}
