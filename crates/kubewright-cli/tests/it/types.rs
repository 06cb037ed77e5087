//! `kubewright generate types`: the generated code compiles and loses no field.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kubewright_testing::Settings;
use serde_json::{Map, Value, json};

use super::nested_build::{cargo, lock, prepare, succeeds};
use super::{error_of, kubewright, skipped};

/// A definition of another project, from `tests/types/definitions.txt`.
struct Origin {
    /// The feature that it is an example of: the comment above it.
    group: String,
    name: String,
    module: String,
    file: String,
}

fn origins() -> Vec<Origin> {
    let mut group = "";
    let mut origins = Vec::new();
    for line in include_str!("../types/definitions.txt").lines() {
        if let Some(name) = line.strip_prefix("# ") {
            group = name;
            continue;
        }
        let mut words = line.split(' ').map(str::to_owned);
        let mut word = |what: &str| words.next().unwrap_or_else(|| format!("{line}: no {what}"));
        let (name, module) = (word("name"), word("module"));
        let (_license, file) = (word("license"), word("file"));
        origins.push(Origin {
            group: group.to_owned(),
            name,
            module,
            file,
        });
    }
    origins
}

/// Whether a definition has the feature of its group; `size` is that of its file.
fn is_of_group(group: &str, crd: &Value, size: usize) -> bool {
    let text = crd.to_string();
    match group {
        "int-or-string" => text.contains("\"x-kubernetes-int-or-string\":true"),
        "preserve-unknown" => text.contains("\"x-kubernetes-preserve-unknown-fields\":true"),
        "oneOf" => text.contains("\"oneOf\":["),
        "over 200 KB" => size > 200_000,
        _ => false,
    }
}

/// Returns the folders of Go modules, downloaded if necessary; none without Go.
fn fetch(modules: &[String]) -> Option<BTreeMap<String, PathBuf>> {
    let settings = Settings::from_environment().expect("settings");
    let empty = tempfile::tempdir().expect("a folder");
    let output = Command::new(&settings.go)
        .args(["mod", "download", "-json"])
        .args(modules)
        .current_dir(empty.path())
        .env("GOMODCACHE", settings.cache.join("go/mod"))
        .env("GOFLAGS", "-mod=mod")
        .env("GOWORK", "off")
        .output();
    let is_complete = output.as_ref().is_ok_and(|output| output.status.success());
    assert!(is_complete || !settings.require_real, "{output:?}");
    let Some(output) = output.ok().filter(|_| is_complete) else {
        skipped("the definitions cannot be downloaded: this needs Go and a network");
        return None;
    };
    let modules = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let folders = modules.map(|module| {
        let module = module.expect("JSON");
        let text = |name: &str| module[name].as_str().expect("a text").to_owned();
        (
            format!("{}@{}", text("Path"), text("Version")),
            PathBuf::from(text("Dir")),
        )
    });
    Some(folders.collect())
}

/// Which fields of a schema a sample has.
#[derive(Clone, Copy, PartialEq)]
enum Fullness {
    All,
    Required,
}

fn sample(schema: &Value, fullness: Fullness) -> Value {
    if schema["x-kubernetes-int-or-string"] == true {
        return json!("25%");
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("string") => json!("text"),
        Some("integer") => json!(7),
        Some("number") => json!(1.5),
        Some("boolean") => json!(true),
        Some("array") => json!([sample(&schema["items"], fullness)]),
        Some("object") => object(schema, fullness),
        _ => json!({"of": ["any", 1, null]}),
    }
}

fn object(schema: &Value, fullness: Fullness) -> Value {
    let mut fields = Map::new();
    let required = schema["required"].as_array();
    let is_required =
        |name: &str| required.is_some_and(|required| required.iter().any(|field| field == name));
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if fullness == Fullness::All || is_required(name) {
            fields.insert(name.clone(), sample(property, fullness));
        }
    }
    if schema["additionalProperties"].is_object() {
        fields.insert(
            "a key".to_owned(),
            sample(&schema["additionalProperties"], fullness),
        );
    }
    if schema["x-kubernetes-preserve-unknown-fields"] == true {
        fields.insert("unknown".to_owned(), json!({"kept": [1, "two", null]}));
    }
    Value::Object(fields)
}

/// Returns samples in the stored version of a definition.
fn samples(crd: &Value) -> Vec<Value> {
    let spec = &crd["spec"];
    let versions = spec["versions"].as_array().expect("versions");
    let stored = versions
        .iter()
        .find(|version| version["storage"] == true)
        .expect("a stored version");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let api_version = format!("{}/{}", text(&spec["group"]), text(&stored["name"]));
    let sample = |fullness| {
        let mut sample = object(&stored["schema"]["openAPIV3Schema"], fullness);
        sample["apiVersion"] = json!(api_version);
        sample["kind"] = spec["names"]["kind"].clone();
        sample["metadata"] = json!({"name": "x", "namespace": "y"});
        sample
    };
    vec![sample(Fullness::All), sample(Fullness::Required)]
}

/// Writes a package that reads each sample into its type and writes it back.
fn write_package(folder: &Path, kinds: &[(String, String)]) {
    let cargo = "[package]\nname = \"generated-types\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                 [dependencies]\n\
                 k8s-openapi = { version = \"0.29\", default-features = false, features = [\"std\", \"v1_36\"] }\n\
                 kube = { version = \"5\", default-features = false, features = [\"client\", \"rustls-tls\", \"ring\", \"derive\"] }\n\
                 serde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n\n\
                 [profile.dev]\ndebug = false\n\n[profile.dev.package.\"*\"]\ndebug = false\n\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), cargo).expect("a file");
    let mut main = "#![deny(warnings)]\n\
        fn check<K: kube::Resource<DynamicType = ()> + serde::Serialize + serde::de::DeserializeOwned>(file: &str) {\n\
            let samples: Vec<serde_json::Value> =\n\
                serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();\n\
            for sample in samples {\n\
                let object: K = serde_json::from_value(sample.clone()).unwrap_or_else(|error| panic!(\"{file}: {error}\"));\n\
                assert_eq!(serde_json::to_value(&object).unwrap(), sample, \"{file}\");\n\
            }\n\
        }\n\n"
        .to_owned();
    let mut calls = String::new();
    for (module, kind) in kinds {
        writeln!(main, "mod {module};").expect("a string");
        writeln!(
            calls,
            "    check::<{module}::{kind}>(\"samples/{module}.json\");"
        )
        .expect("a string");
    }
    let main = format!("{main}\nfn main() {{\n{calls}}}\n");
    fs::write(folder.join("src/main.rs"), main).expect("a file");
}

#[test]
fn types_of_twenty_definitions_compile_and_lose_no_field() {
    let origins = origins();
    assert!(origins.len() >= 20);
    let mut modules: Vec<String> = origins.iter().map(|origin| origin.module.clone()).collect();
    modules.sort();
    modules.dedup();
    let Some(folders) = fetch(&modules) else {
        return;
    };
    let home = tempfile::tempdir().expect("a folder");
    prepare(home.path());
    let folder = home.path().join("generated");
    for part in ["src", "samples"] {
        fs::create_dir_all(folder.join(part)).expect("a folder");
    }
    let mut kinds = Vec::new();
    let mut groups: BTreeMap<String, usize> = BTreeMap::new();
    for origin in origins {
        let path = folders[&origin.module].join(&origin.file);
        let text = fs::read_to_string(&path).expect("the definitions");
        let all = kubewright_wire::yaml::documents(&text).expect("YAML");
        let has_name = |object: &&Value| object["metadata"]["name"] == origin.name.as_str();
        let crd = all.iter().find(has_name).expect("the definition");
        assert!(
            is_of_group(&origin.group, crd, text.len()),
            "{}",
            origin.name
        );
        *groups.entry(origin.group).or_default() += 1;
        let module = origin.name.replace(['.', '-'], "_");
        let file = folder.join(format!("{module}.json"));
        fs::write(&file, crd.to_string()).expect("a file");
        let mut command = kubewright(&["generate", "types", "--file"]);
        command
            .arg(&file)
            .arg("--to")
            .arg(folder.join(format!("src/{module}.rs")));
        succeeds(command, &folder);
        let samples = Value::from(samples(crd)).to_string();
        fs::write(folder.join(format!("samples/{module}.json")), samples).expect("a file");
        let kind = crd["spec"]["names"]["kind"].as_str().expect("a kind");
        kinds.push((module, kind.to_owned()));
    }
    assert_eq!(groups.len(), 4);
    assert!(groups.values().all(|count| *count >= 5), "{groups:?}");
    write_package(&folder, &kinds);
    lock(&folder);
    succeeds(cargo(&["run", "--quiet"]), &folder);
}

#[test]
fn error_for_a_missing_definition_or_version_names_the_available_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.yaml");
    let generate = |more: &[&str]| {
        let mut command = kubewright(&["generate", "types", "--file"]);
        command.arg(&file).args(more);
        error_of(&command.output().expect("the command runs"))
    };
    fs::write(&file, "kind: ConfigMap\n").expect("a file");
    let error = generate(&[]);
    assert!(error.contains("has no CustomResourceDefinition"), "{error}");
    let crd = json!({"kind": "CustomResourceDefinition", "metadata": {"name": "a.b"},
        "spec": {"versions": [{"name": "v1", "storage": true, "schema": {"openAPIV3Schema": {}}}]}});
    fs::write(&file, crd.to_string()).expect("a file");
    let error = generate(&["--version", "v2"]);
    assert!(
        error.contains("no schema for the version v2; it has v1"),
        "{error}"
    );
}
