//! `docker-compose.yml`, compared with what it starts.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Map, Value};
use uptake::{
    act::Actor,
    config::{Config, Sources},
    module::{self, Limits, ModuleName},
};

use crate::support::shipped;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn services() -> (Value, Map<String, Value>) {
    let text = fs::read_to_string(root().join("docker-compose.yml")).expect("the file");
    let whole: Value = serde_saphyr::from_str(&text).expect("YAML");
    let services = whole["services"].as_object().expect("services").clone();
    (whole, services)
}

/// `${NAME:-default}` expanded without the variable.
fn expanded(text: &str) -> String {
    let Some((before, rest)) = text.split_once("${") else { return text.to_owned() };
    let (inner, after) = rest.split_once('}').expect("a closing brace");
    let (_, default) = inner.split_once(":-").expect("a default");
    format!("{before}{default}{}", expanded(after))
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|item| Some(expanded(item.as_str()?))).collect()
}

fn environment(service: &Value) -> Vec<(String, String)> {
    let members = service["environment"].as_object().into_iter().flatten();
    members.map(|(name, value)| (name.clone(), expanded(value.as_str().expect("a text")))).collect()
}

#[test]
fn everything_it_names_is_there() {
    let (whole, services) = services();
    let named = whole["volumes"].as_object().expect("volumes");
    let mut ports = BTreeSet::new();
    for (name, service) in &services {
        assert!(service["image"].is_string(), "{name} has an image");
        for other in texts(&service["depends_on"]) {
            assert!(services.contains_key(&other), "{name} depends on {other}");
        }
        if let Some(other) = service["network_mode"].as_str() {
            assert!(services.contains_key(other.strip_prefix("service:").expect("a service's network")));
            assert!(service["ports"].is_null(), "{name} has no network of its own");
        }
        for port in texts(&service["ports"]) {
            let [address, published, _]: [&str; 3] = port.split(':').collect::<Vec<_>>().try_into().expect("A:P:P");
            assert_eq!(address, "127.0.0.1", "{name}: only this machine reaches {port}");
            assert!(ports.insert(published.to_owned()), "{port} is published twice");
        }
        for volume in texts(&service["volumes"]) {
            let source = volume.split(':').next().unwrap_or_default();
            let is_there =
                if source.starts_with('.') { root().join(source).is_dir() } else { named.contains_key(source) };
            assert!(is_there, "{name}: {volume}");
        }
    }
    assert!(root().join("Dockerfile").is_file() && services["uptake"]["build"] == ".");
}

#[test]
fn the_service_makes_the_calls_of_its_modules() {
    let (_, services) = services();
    let environment = environment(&services["uptake"]).into_iter().map(|(name, value)| (name.into(), value.into()));
    let sources = Sources { environment: environment.collect(), ..Sources::default() };
    let loaded = Config::load(&sources).expect("good settings");
    assert_eq!(loaded.warnings, Vec::<String>::new());
    assert!(loaded.config.llm.base_url.is_none() && !loaded.config.http.chat.front, "no model server by itself");
    let actor = Actor::open(&loaded.config.actions).expect("good options").expect("it acts");
    let stand_in = texts(&services["shop"]["command"]);
    assert_eq!(stand_in[0], "mock");
    let name = ModuleName::new(&stand_in[1]).expect("a name");
    let module = module::load(&shipped().join(&stand_in[1]), name, &Limits::default()).expect("a module that ships");
    let endpoints: Vec<_> = module.functions.iter().filter_map(|function| function.endpoint.as_ref()).collect();
    assert_eq!(endpoints.len(), module.functions.len(), "each function of the module is carried out");
    for endpoint in endpoints {
        assert_eq!(actor.obstacles(endpoint), Vec::<String>::new());
        // The default address of the stand-in, in the network that it shares.
        assert!(endpoint.address().ends_with("localhost:3002"), "{}", endpoint.address());
    }
    assert_eq!(services["shop"]["network_mode"], "service:uptake");
}

#[test]
fn the_frontend_finds_the_service() {
    let (_, services) = services();
    let frontend = environment(&services["frontend"]);
    let value = |name: &str| frontend.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    assert_eq!(value("OPENAI_API_BASE_URL"), Some("http://uptake:3001/v1"));
    let model = value("DEFAULT_MODELS").expect("a model");
    assert!(shipped().join(model).is_dir());
    let hosts = environment(&services["uptake"]);
    assert!(hosts.iter().any(|(name, value)| name == "UPTAKE_HTTP__ALLOWED_HOSTS" && value.contains("\"uptake\"")));
    // The model server belongs to a profile only.
    assert_eq!(texts(&services["model"]["profiles"]), ["model"]);
}
