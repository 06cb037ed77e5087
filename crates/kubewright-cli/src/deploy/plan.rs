//! What applying the objects would change in the cluster.

use serde_json::Value;

use super::arguments::Force;
use super::definition_changes::DefinitionChanges;
use super::report::{Action, Report};
use crate::error::Error;
use crate::objects::{
    Difference, Located, Ownership, ServedKinds, apply_one, difference, try_apply,
};

/// An object to apply, and what that would change.
#[derive(Debug)]
struct Step {
    located: Located,
    object: Value,
    difference: Difference,
}

/// What applying the objects would change.
#[derive(Debug)]
pub(super) struct Plan {
    steps: Vec<Step>,
    ownership: Ownership,
}

impl Plan {
    /// Applies the objects in dry runs, and prints and reports what would change.
    ///
    /// Fails when a definition would break objects in the cluster. When every API server rejects a
    /// definition, that error replaces the one of the dry run, which is less specific.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing changes.
    pub(super) async fn make(
        client: &kube::Client,
        objects: &[Value],
        force: &Force,
        report: &mut Report,
    ) -> Result<Self, Error> {
        let changes = DefinitionChanges::find(client, objects).await?;
        let unsafe_change = changes.error(force);
        let plan = match Self::dry_run(client, objects, force.ownership()).await {
            Ok(plan) => plan,
            Err(error) => return Err(unsafe_change.unwrap_or(error)),
        };
        plan.report(report);
        for change in &changes.harmless {
            report.progress(format_args!("note     {change}; no object breaks"));
        }
        match unsafe_change {
            Some(error) => Err(error),
            None => Ok(plan),
        }
    }

    async fn dry_run(
        client: &kube::Client,
        objects: &[Value],
        ownership: Ownership,
    ) -> Result<Self, Error> {
        let mut kinds = ServedKinds::discover(client).await?;
        let mut steps = Vec::new();
        for object in objects {
            let located = kinds.locate(object).await?;
            let live = located.find(client).await?;
            let result = match try_apply(client, &located, object, ownership).await {
                // The namespace of the object does not exist yet: it is part of the same plan.
                Err(error) if live.is_none() && error.is_not_found() => object.clone(),
                result => result?,
            };
            steps.push(Step {
                difference: difference(live.as_ref(), &result),
                located,
                object: object.clone(),
            });
        }
        Ok(Self { steps, ownership })
    }

    fn report(&self, report: &mut Report) {
        let mut same = 0;
        for step in &self.steps {
            let action = match &step.difference {
                Difference::New(lines) => {
                    report.progress(format_args!("new      {}", step.located));
                    report.new_lines(lines);
                    Action::New
                }
                Difference::None => {
                    same += 1;
                    Action::Same
                }
                Difference::Lines(lines) => {
                    report.progress(format_args!("changed  {}", step.located));
                    for line in lines {
                        report.progress(format_args!("    {line}"));
                    }
                    Action::Changed
                }
            };
            report.add(action, &step.located);
        }
        if same > 0 {
            report.progress(format_args!("same     {same} objects"));
        }
    }

    /// Applies the objects, one by one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves part of the objects applied; another run applies the rest.
    pub(super) async fn apply(&self, client: &kube::Client) -> Result<(), Error> {
        for step in &self.steps {
            apply_one(client, &step.located, &step.object, self.ownership).await?;
        }
        Ok(())
    }

    /// Returns the places of all objects.
    pub(super) fn locations(&self) -> Vec<Located> {
        self.steps.iter().map(|step| step.located.clone()).collect()
    }
}
