//! Masks the values of responses that differ from run to run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

use super::varying::{is_age, is_of_cluster, is_time, is_uid, revision, template_hash};
use crate::response::Response;

/// Replaces the values that differ from run to run, and counts the replacements.
///
/// This is the only place where a response is changed before it is compared.
#[derive(Clone, Debug, Default)]
pub struct Masks {
    count: MaskCount,
    uids: Vec<String>,
    revisions: BTreeSet<u64>,
    hashes: Vec<String>,
}

/// How often each mask was used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaskCount {
    counts: BTreeMap<&'static str, usize>,
}

impl MaskCount {
    fn add(&mut self, mask: &'static str) {
        *self.counts.entry(mask).or_default() += 1;
    }

    /// Adds the counts of another run.
    pub fn merge(&mut self, other: &Self) {
        for (mask, count) in &other.counts {
            *self.counts.entry(mask).or_default() += count;
        }
    }
}

impl fmt::Display for MaskCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self
            .counts
            .iter()
            .map(|(mask, count)| format!("{count} {mask}"))
            .collect();
        f.write_str(&parts.join(", "))
    }
}

/// The start of warnings that only the embedded server returns, about features that it lacks.
const KNOWN_WARNING: &str = "299 - \"kubewright: ";

/// The start of the name of the volume with the token of a Pod.
const TOKEN_VOLUME: &str = "kube-api-access-";

impl Masks {
    /// Masks the responses of one case on one server.
    pub fn apply(mut self, responses: &mut [Response]) -> MaskCount {
        for response in responses.iter() {
            self.collect(&response.body);
        }
        let mut seen = BTreeSet::new();
        self.hashes.retain(|hash| seen.insert(hash.clone()));
        for response in responses {
            self.mask_warnings(response);
            self.mask(&mut response.body, "");
        }
        self.count
    }

    /// Collects the revisions of objects first, because they are numbered in their order. The
    /// revision of the whole cluster is not one of them.
    fn collect(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                let is_counted = !is_of_cluster(fields);
                for (name, field) in fields {
                    self.revisions.extend(revision(name, field));
                    self.hashes.extend(template_hash(name, field));
                    match (name.as_str(), field) {
                        ("metadata", Value::Object(metadata)) if !is_counted => {
                            let others = metadata.iter();
                            let others = others.filter(|(name, _)| *name != "resourceVersion");
                            others.for_each(|(_, field)| self.collect(field));
                        }
                        _ => self.collect(field),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            _ => {}
        }
    }

    fn mask_warnings(&mut self, response: &mut Response) {
        let Some(warnings) = response.headers.get_mut("warning") else {
            return;
        };
        let before = warnings.len();
        warnings.retain(|warning| !warning.starts_with(KNOWN_WARNING));
        for _ in warnings.len()..before {
            self.count.add("documented warnings");
        }
        if warnings.is_empty() {
            response.headers.remove("warning");
        }
    }

    fn mask(&mut self, value: &mut Value, name: &str) {
        match value {
            Value::Object(fields) => {
                self.mask_generated_name(fields);
                self.mask_of_cluster(fields);
                self.sort_managers(fields);
                self.sort_conflicts(fields);
                self.mask_table(fields);
                self.mask_repeated_bookmarks(fields);
                for (name, field) in fields {
                    self.mask(field, name);
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.mask(item, name);
                }
            }
            Value::String(text) => self.mask_text(text, name),
            _ => {}
        }
    }

    /// A generated name ends with five random letters.
    fn mask_generated_name(&mut self, fields: &mut Map<String, Value>) {
        let start = fields
            .get("generateName")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let (Some(start), Some(Value::String(name))) = (start, fields.get_mut("name")) else {
            return;
        };
        let random = name.strip_prefix(&start).map(str::len);
        if random == Some(5) {
            *name = format!("{start}?????");
            self.count.add("generated names");
        }
    }

    /// A list or a bookmark has the revision of the whole cluster, to which other clients write,
    /// too.
    fn mask_of_cluster(&mut self, fields: &mut Map<String, Value>) {
        let is_of_cluster = is_of_cluster(fields);
        let Some(metadata) = fields.get_mut("metadata").filter(|_| is_of_cluster) else {
            return;
        };
        for (field, mask) in [
            ("resourceVersion", "revisions of the cluster"),
            ("continue", "continue tokens"),
        ] {
            if let Some(Value::String(text)) = metadata.get_mut(field) {
                "masked".clone_into(text);
                self.count.add(mask);
            }
        }
    }

    /// A server may send any number of bookmarks: only the first one of several is kept.
    fn mask_repeated_bookmarks(&mut self, fields: &mut Map<String, Value>) {
        let Some(Value::Array(events)) = fields.get_mut("events") else {
            return;
        };
        let before = events.len();
        events.dedup_by(|event, last| event["type"] == "BOOKMARK" && last["type"] == "BOOKMARK");
        for _ in events.len()..before {
            self.count.add("repeated bookmarks");
        }
    }

    /// The entries of managers are sorted by their time in seconds, which differs from run to run.
    /// Entries in another order are not changed.
    fn sort_managers(&mut self, fields: &mut Map<String, Value>) {
        const SORT_FIELDS: [&str; 5] = [
            "manager",
            "operation",
            "subresource",
            "apiVersion",
            "fieldsV1",
        ];
        let Some(Value::Array(entries)) = fields.get_mut("managedFields") else {
            return;
        };
        let by_second = |entry: &Value| {
            let second = ["operation", "time", "manager"];
            second.map(|field| entry[field].as_str().map(str::to_owned))
        };
        if !entries.is_sorted_by_key(by_second) {
            return;
        }
        let before = entries.clone();
        entries.sort_by_cached_key(|entry| SORT_FIELDS.map(|field| entry[field].to_string()));
        if *entries != before {
            self.count.add("orders of managers");
        }
    }

    /// Kubernetes lists the managers that an apply conflicts with in random order.
    fn sort_conflicts(&mut self, fields: &mut Map<String, Value>) {
        let Some(Value::Array(causes)) = fields.get_mut("causes") else {
            return;
        };
        let is_conflict = |cause: &Value| cause["reason"] == "FieldManagerConflict";
        let manager = |cause: &Value| cause["message"].to_string();
        if causes.iter().all(is_conflict) && !causes.is_sorted_by_key(manager) {
            causes.sort_by_cached_key(manager);
            self.count.add("orders of conflicts");
        }
    }

    /// A table contains ages, and descriptions of its columns that only Kubernetes has.
    fn mask_table(&mut self, fields: &mut Map<String, Value>) {
        let is_cells = |name: &str| name == "cells";
        for (_, cells) in fields.iter_mut().filter(|(name, _)| is_cells(name)) {
            for cell in cells.as_array_mut().into_iter().flatten() {
                if cell.as_str().is_some_and(is_age) {
                    *cell = Value::String("age".to_owned());
                    self.count.add("ages");
                }
            }
        }
        let columns = fields.get_mut("columnDefinitions");
        let columns = columns.and_then(Value::as_array_mut).into_iter().flatten();
        for column in columns.filter_map(Value::as_object_mut) {
            if column.remove("description").is_some() {
                self.count.add("descriptions of columns");
            }
        }
    }

    fn mask_text(&mut self, text: &mut String, name: &str) {
        if let Some(number) = revision(name, &Value::String(text.clone())) {
            let rank = self.revisions.range(..=number).count();
            *text = format!("revision-{rank}");
            self.count.add("revisions");
        }
        if let Some(rest) = text.strip_prefix(TOKEN_VOLUME)
            && rest.len() == 5
        {
            *text = format!("{TOKEN_VOLUME}?????");
            self.count.add("generated names");
        }
        if is_time(text) {
            "time".clone_into(text);
            self.count.add("times");
        }
        // Hashes of templates are also part of names and messages.
        for (rank, hash) in self.hashes.iter().enumerate() {
            if text.contains(hash.as_str()) {
                *text = text.replace(hash.as_str(), &format!("hash-{rank}"));
                self.count.add("template hashes");
            }
        }
        // Uids are also part of messages.
        let words: Vec<String> = text
            .split(|letter: char| !letter.is_ascii_hexdigit() && letter != '-')
            .filter(|word| is_uid(word))
            .map(str::to_owned)
            .collect();
        for uid in words {
            let known = self.uids.iter().position(|known| *known == uid);
            let rank = known.unwrap_or_else(|| {
                self.uids.push(uid.clone());
                self.uids.len() - 1
            });
            *text = text.replace(&uid, &format!("uid-{rank}"));
            self.count.add("uids");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Masks;
    use crate::response::Response;

    fn masked(bodies: &[Value]) -> (Vec<Value>, String) {
        let mut responses: Vec<_> = bodies
            .iter()
            .map(|body| Response {
                request: String::new(),
                status: 200,
                headers: std::collections::BTreeMap::new(),
                body: body.clone(),
            })
            .collect();
        let count = Masks::default().apply(&mut responses).to_string();
        (
            responses
                .into_iter()
                .map(|response| response.body)
                .collect(),
            count,
        )
    }

    #[test]
    fn uids_and_revisions_keep_their_identity_and_order() {
        let uid = "0b6c8a52-17f8-4d6e-9a55-0a1b2c3d4e5f";
        let (bodies, count) = masked(&[
            json!({ "metadata": { "uid": uid, "resourceVersion": "90" } }),
            json!({ "metadata": { "uid": uid, "resourceVersion": "120" } }),
            json!({ "message": format!("the UID ({uid}) differs") }),
        ]);
        assert_eq!(
            bodies,
            [
                json!({ "metadata": { "uid": "uid-0", "resourceVersion": "revision-1" } }),
                json!({ "metadata": { "uid": "uid-0", "resourceVersion": "revision-2" } }),
                json!({ "message": "the UID (uid-0) differs" }),
            ]
        );
        assert_eq!(count, "2 revisions, 3 uids");
    }

    #[test]
    fn only_ages_and_descriptions_of_tables_are_masked() {
        let (bodies, count) = masked(&[json!({
            "kind": "Table",
            "columnDefinitions": [{ "name": "Age", "description": "prose" }],
            "rows": [{ "cells": ["a", "5s", "2s later", 5] }],
        })]);
        assert_eq!(
            bodies,
            [json!({
                "kind": "Table",
                "columnDefinitions": [{ "name": "Age" }],
                "rows": [{ "cells": ["a", "age", "2s later", 5] }],
            })]
        );
        assert_eq!(count, "1 ages, 1 descriptions of columns");
    }

    #[test]
    fn only_revisions_of_lists_times_and_generated_names_are_masked() {
        let (bodies, _) = masked(&[json!({
            "metadata": { "resourceVersion": "7", "continue": "abc" },
            "items": [{
                "metadata": {
                    "generateName": "web-", "name": "web-x2b4d",
                    "creationTimestamp": "2026-01-01T00:00:00Z",
                },
                "data": { "version": "7", "date": "2026" },
            }],
        })]);
        assert_eq!(
            bodies,
            [json!({
                "metadata": { "resourceVersion": "masked", "continue": "masked" },
                "items": [{
                    "metadata": {
                        "generateName": "web-", "name": "web-?????", "creationTimestamp": "time",
                    },
                    "data": { "version": "7", "date": "2026" },
                }],
            })]
        );
    }

    #[test]
    fn revision_of_the_cluster_is_not_a_revision_of_an_object() {
        let object =
            |version: &str| json!({ "metadata": { "name": "a", "resourceVersion": version } });
        let bookmark = json!({
            "kind": "Secret", "apiVersion": "v1", "metadata": { "resourceVersion": "95" },
        });
        let list = json!({ "metadata": { "resourceVersion": "97" }, "items": [] });
        let (bodies, count) = masked(&[object("90"), bookmark, list, object("100")]);
        assert_eq!(bodies[0]["metadata"]["resourceVersion"], "revision-1");
        assert_eq!(bodies[1]["metadata"]["resourceVersion"], "masked");
        assert_eq!(bodies[2]["metadata"]["resourceVersion"], "masked");
        assert_eq!(bodies[3]["metadata"]["resourceVersion"], "revision-2");
        assert_eq!(count, "2 revisions, 2 revisions of the cluster");
    }

    #[test]
    fn repeated_bookmarks_are_removed() {
        let event = |kind: &str| json!({ "type": kind, "object": { "kind": "Secret" } });
        let kinds = [
            "ADDED", "BOOKMARK", "BOOKMARK", "ADDED", "ADDED", "BOOKMARK",
        ];
        let (bodies, count) = masked(&[json!({ "events": kinds.map(event) })]);
        let kept = ["ADDED", "BOOKMARK", "ADDED", "ADDED", "BOOKMARK"];
        assert_eq!(bodies, [json!({ "events": kept.map(event) })]);
        assert_eq!(count, "1 repeated bookmarks");
    }

    #[test]
    fn managers_are_compared_without_the_order_of_their_seconds() {
        let entry = |manager: &str, time: &str| json!({ "manager": manager, "time": time });
        let early = "2026-01-01T00:00:00Z";
        let late = "2026-01-01T00:00:01Z";
        let (bodies, _) = masked(&[
            json!({ "managedFields": [entry("b", early), entry("a", late)] }),
            json!({ "managedFields": [entry("a", early), entry("b", early)] }),
        ]);
        assert_eq!(bodies[0], bodies[1]);
        let disordered = json!({ "managedFields": [entry("b", late), entry("a", early)] });
        let (bodies, _) = masked(&[disordered]);
        assert_eq!(bodies[0]["managedFields"][0]["manager"], "b");
    }

    #[test]
    fn conflicts_are_compared_without_the_order_of_their_managers() {
        let cause = |manager: &str, field: &str| json!({ "reason": "FieldManagerConflict", "message": manager, "field": field });
        let (a, b, c) = (cause("a", "2"), cause("a", "1"), cause("b", "0"));
        let (bodies, count) = masked(&[
            json!({ "causes": [a, b, c] }),
            json!({ "causes": [c, a, b] }),
            json!({ "causes": [b, a] }),
        ]);
        assert_eq!(bodies[0], bodies[1]);
        assert_eq!(bodies[2]["causes"], json!([b, a]));
        assert_eq!(count, "1 orders of conflicts");
    }
}
