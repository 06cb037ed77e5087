use std::time::Duration;

use kube::api::DeleteParams;

use super::wait;
use crate::error::Error;
use crate::objects::Located;
use crate::output::say;

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
) -> Result<(), Error> {
    let mut going = Vec::new();
    for place in places {
        match place
            .api(client)
            .delete(&place.name, &DeleteParams::default())
            .await
        {
            Ok(_) => going.push(place),
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(source) => {
                return Err(Error::Request {
                    action: format!("delete {place}"),
                    source: Box::new(source),
                });
            }
        }
    }
    for place in going {
        wait::until_gone(client, place, timeout).await?;
        say(format_args!("gone     {place}"));
    }
    Ok(())
}
