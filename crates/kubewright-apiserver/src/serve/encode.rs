//! Encodes responses.

use http::{Response, StatusCode};
use serde_json::Value;

use super::response_body::ServerBody;
use crate::encoding::{Format, response, text_response, value_response};
use crate::request::{ApiBody, ApiResponse};

/// Encodes a response in the format that the client accepts.
pub(super) fn encode(sent: ApiResponse, format: Format) -> Response<ServerBody> {
    let code = sent.code;
    match sent.body {
        ApiBody::Text(text) => text_response(code, text).map(ServerBody::whole),
        ApiBody::Watch(watch) => json(code, ServerBody::watch(*watch)),
        ApiBody::List(list) if format == Format::Json => json(code, ServerBody::list(list)),
        ApiBody::Object(object) if format == Format::Json => {
            json(code, ServerBody::whole(object.bytes().clone()))
        }
        ApiBody::List(list) => {
            let items = list.items.iter().map(|object| object.value().clone());
            let mut value = list.head;
            value.insert("items".to_owned(), items.collect());
            encode_value(code, &Value::Object(value), format)
        }
        ApiBody::Object(object) => encode_value(code, object.value(), format),
        ApiBody::Value(value) => encode_value(code, &value, format),
        ApiBody::Status(status) => {
            let value = serde_json::to_value(&*status).unwrap_or_default();
            encode_value(code, &value, format)
        }
    }
}

fn json(code: StatusCode, body: ServerBody) -> Response<ServerBody> {
    response(code, "application/json", "").map(|_| body)
}

fn encode_value(code: StatusCode, value: &Value, format: Format) -> Response<ServerBody> {
    value_response(code, value, format).map(ServerBody::whole)
}
