//! A read past the cache: numbers must be unique, so only the current state is correct.

use std::process::ExitCode;

use kubewright::prelude::*;

/// A ticket with a unique number.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "examples.kubewright.dev", version = "v1", kind = "Ticket")]
#[kube(namespaced, status = "TicketStatus")]
pub(crate) struct TicketSpec {}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TicketStatus {
    pub(crate) number: Option<u32>,
}

async fn reconcile(ticket: Arc<Ticket>, cx: Context<Ticket>) -> Result<Outcome> {
    let has_number = |ticket: &Ticket| ticket.status.as_ref()?.number;
    if has_number(&ticket).is_some() {
        return Ok(Outcome::done());
    }
    // There is one worker, so no two tickets get a number at the same time.
    let tickets = cx.live().list::<Ticket>().await?;
    let last = tickets.iter().filter_map(has_number).max();
    let next = last.unwrap_or_default() + 1;
    cx.status(|status| status.number = Some(next)).await?;
    Ok(Outcome::done())
}

pub(crate) fn operator() -> Operator {
    Operator::new("tickets").controller(Controller::new(reconcile))
}

fn main() -> ExitCode {
    operator().main()
}
