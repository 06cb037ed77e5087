use std::time::Duration;

use super::report::AnswerForm;
use super::wait;
use crate::error::Error;
use crate::objects::Located;

/// Deletes the objects in this order and waits until they are gone; one that is not there is not
/// missed.
///
/// # Cancel safety
///
/// Dropping the future leaves part of the objects; another run deletes the rest.
pub(super) async fn remove(
    client: &kube::Client,
    places: &[Located],
    timeout: Duration,
    form: AnswerForm,
) -> Result<(), Error> {
    let mut going = Vec::new();
    for place in places {
        if place.delete(client).await? {
            going.push(place);
        }
    }
    for place in going {
        wait::until_gone(client, place, timeout, form).await?;
        form.tell(format_args!("gone     {place}"));
    }
    Ok(())
}
