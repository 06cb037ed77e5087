//! What a controller runs on: client, informers and cache, queue, controllers.
