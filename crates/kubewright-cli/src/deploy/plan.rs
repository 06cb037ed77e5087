use serde_json::Value;

use super::definition_changes::Danger;
use super::install::Force;
use super::report::{Action, Answer};
use crate::error::Error;
use crate::objects::{Difference, Kinds, Located, Ownership, apply_one, difference, try_apply};

/// One object that is to be in the cluster, and what applying it would change.
#[derive(Debug)]
pub(super) struct Step {
    located: Located,
    object: Value,
    difference: Difference,
}

/// What applying some objects would change.
#[derive(Debug)]
pub(super) struct Plan {
    steps: Vec<Step>,
    ownership: Ownership,
}

impl Plan {
    /// Asks the cluster what each apply would do, tells it, and refuses what objects there would
    /// not survive.
    ///
    /// Definitions are compared first: of those that no API server takes, the dry run would only
    /// bring the server's own words.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing changes.
    pub(super) async fn make(
        client: &kube::Client,
        objects: &[Value],
        force: &Force,
        answer: &mut Answer,
    ) -> Result<Self, Error> {
        let danger = Danger::of(client, objects).await?;
        let refusal = danger.refusal(force);
        let plan = match Self::ask(client, objects, force.ownership()).await {
            Ok(plan) => plan,
            Err(error) => return Err(refusal.unwrap_or(error)),
        };
        plan.show(answer);
        for change in &danger.survived {
            answer.tell(format_args!("note     {change}; no object breaks"));
        }
        match refusal {
            Some(refusal) => Err(refusal),
            None => Ok(plan),
        }
    }

    async fn ask(
        client: &kube::Client,
        objects: &[Value],
        ownership: Ownership,
    ) -> Result<Self, Error> {
        let mut kinds = Kinds::discover(client).await?;
        let mut steps = Vec::new();
        for object in objects {
            let located = kinds.locate(object).await?;
            let live = located.find(client).await?;
            let result = match try_apply(client, &located, object, ownership).await {
                // Its namespace comes with the same plan.
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

    /// Tells what would change.
    fn show(&self, answer: &mut Answer) {
        let mut same = 0;
        for step in &self.steps {
            let action = match &step.difference {
                Difference::New(lines) => {
                    answer.tell(format_args!("new      {}", step.located));
                    answer.detail(lines);
                    Action::New
                }
                Difference::None => {
                    same += 1;
                    Action::Same
                }
                Difference::Lines(lines) => {
                    answer.tell(format_args!("changed  {}", step.located));
                    for line in lines {
                        answer.tell(format_args!("    {line}"));
                    }
                    Action::Changed
                }
            };
            answer.add(action, &step.located);
        }
        if same > 0 {
            answer.tell(format_args!("same     {same} objects"));
        }
    }

    /// Does it, object by object.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves part of the objects applied; another run does the rest.
    pub(super) async fn apply(&self, client: &kube::Client) -> Result<(), Error> {
        for step in &self.steps {
            apply_one(client, &step.located, &step.object, self.ownership).await?;
        }
        Ok(())
    }

    /// The places of all objects.
    pub(super) fn places(&self) -> Vec<Located> {
        self.steps.iter().map(|step| step.located.clone()).collect()
    }
}
