//! What `examples/` says about the service, compared with the service.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::Arc,
};

use regex::Regex;
use serde_json::{Value, json};
use uptake::{
    config::{Config, Sources},
    conversation::{
        ConversationOptions,
        store::{SessionOptions, StoreUrl},
    },
    http::{Conversations, HttpOptions},
    llm::{Server, scripted::Scripted},
    understand::UnderstandOptions,
};

use super::metrics::samples;
use crate::{
    actions::shop::{self, Shop},
    support::{Service, embedder},
};

/// Labels that Prometheus itself puts on each series.
const OF_TARGETS: [&str; 2] = ["job", "instance"];
/// Series that Prometheus and the blackbox exporter make.
const OF_OTHERS: [&str; 2] = ["up", "probe_success"];
/// What else an expression has beside series, labels and numbers.
const WORDS: [&str; 9] =
    ["absent", "histogram_quantile", "increase", "offset", "or", "rate", "sum", "unless", "vector"];
/// The sources that have the values of a label.
const VALUES: [(&str, &[&str]); 6] = [
    ("code", &["src/http/error.rs"]),
    ("error", &["src/http/metrics.rs"]),
    ("outcome", &["src/dialogue/outcome.rs"]),
    ("phase", &["src/http/metrics.rs"]),
    ("result", &["src/http/metrics.rs", "src/llm/mod.rs"]),
    ("status", &["src/act/mod.rs"]),
];

/// The labels of each series.
type Measured = BTreeMap<String, BTreeSet<String>>;

/// An expression of the dashboard or of a rule.
#[derive(Debug)]
struct Shown {
    place: String,
    expression: String,
    /// Labels that its legend or its texts name.
    labels: Vec<String>,
}

impl Shown {
    fn faults(&self, measured: &Measured) -> Vec<String> {
        let faults = faults(&self.expression, &self.labels, measured);
        faults.into_iter().map(|fault| format!("{}: {fault}", self.place)).collect()
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern")
}

/// The first group of each match.
fn found(text: &str, searched: &str) -> Vec<String> {
    pattern(text).captures_iter(searched).map(|found| found[1].to_owned()).collect()
}

fn read(path: &str) -> String {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&full).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn yaml(path: &str) -> Value {
    serde_saphyr::from_str(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// The expressions of panels and variables.
fn dashboard() -> Vec<Shown> {
    let whole: Value = serde_json::from_str(&read("examples/monitoring/dashboard.json")).expect("JSON");
    let mut shown = Vec::new();
    for panel in items(&whole["panels"]) {
        for target in items(&panel["targets"]) {
            let labels = found(r"\{\{\s*(\w+)\s*\}\}", &text(&target["legendFormat"]));
            shown.push(Shown { place: text(&panel["title"]), expression: text(&target["expr"]), labels });
        }
    }
    let variable = pattern(r"^label_values\((.+), (\w+)\)$");
    for one in items(&whole["templating"]["list"]).filter(|one| one["type"] == "query") {
        let query = text(&one["query"]["query"]);
        let parts = variable.captures(&query).expect("label_values(SERIES, LABEL)");
        shown.push(Shown {
            place: text(&one["name"]),
            expression: parts[1].to_owned(),
            labels: vec![parts[2].to_owned()],
        });
    }
    shown
}

fn rules() -> Vec<Shown> {
    let whole = yaml("examples/monitoring/alerts.yml");
    let rules = items(&whole["groups"]).flat_map(|group| items(&group["rules"]));
    let shown = rules.map(|rule| Shown {
        place: text(&rule["alert"]),
        expression: text(&rule["expr"]),
        labels: found(r"\$labels\.(\w+)", &rule["annotations"].to_string()),
    });
    shown.collect()
}

/// What an expression names that is not measured.
fn faults(expression: &str, labels: &[String], measured: &Measured) -> Vec<String> {
    let mut faults = Vec::new();
    let of_others = BTreeSet::new();
    let labels_of = |series: &str| measured.get(series).or_else(|| OF_OTHERS.contains(&series).then_some(&of_others));
    let selector = pattern(r"(\w*)\s*\{([^}]*)\}");
    let matcher = pattern(r#"^\s*(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"\s*(?:,|$)"#);
    let grouping = pattern(r"\b(?:by|on|group_left)\s*\(([^)]*)\)");
    let mut known = BTreeSet::from(OF_TARGETS.map(str::to_owned));
    for name in found(r"\b([a-zA-Z_:][\w:]*)", &grouping.replace_all(&strip(expression), " ")) {
        match labels_of(&name) {
            Some(labels) => known.extend(labels.iter().cloned()),
            None if WORDS.contains(&name.as_str()) => {}
            None => faults.push(format!("`{name}` is not measured")),
        }
    }
    for selected in selector.captures_iter(expression) {
        let (series, mut rest) = (&selected[1], &selected[2]);
        while !rest.trim().is_empty() {
            let Some(found) = matcher.captures(rest) else {
                faults.push(format!("`{rest}` cannot be read"));
                break;
            };
            rest = &rest[found[0].len()..];
            let (label, value) = (&found[1], &found[2]);
            let is_its = OF_TARGETS.contains(&label) || labels_of(series).is_some_and(|labels| labels.contains(label));
            if !is_its {
                faults.push(format!("`{series}` has no label `{label}`"));
            }
            faults.extend(strange(label, value).map(|value| format!("`{label}` is never `{value}`")));
        }
    }
    let groups: BTreeSet<String> =
        grouping.captures_iter(expression).flat_map(|found| self::found(r"(\w+)", &found[1])).collect();
    let absent = groups.difference(&known).map(|label| format!("there is no label `{label}` to group by"));
    faults.extend(absent);
    let left = if groups.is_empty() { &known } else { &groups };
    let unshown = labels.iter().filter(|label| !left.contains(*label));
    faults.extend(unshown.map(|label| format!("there is no label `{label}` to show")));
    faults
}

/// Without what stands in braces and brackets.
fn strip(expression: &str) -> String {
    pattern(r"\{[^}]*\}|\[[^\]]*\]").replace_all(expression, " ").into_owned()
}

/// The alternatives of a matcher's value that the label never has.
fn strange(label: &str, value: &str) -> impl Iterator<Item = String> {
    let sources = VALUES.iter().find(|(own, _)| *own == label).map_or(&[][..], |(_, sources)| *sources);
    let known: Vec<String> = sources.iter().flat_map(|source| found(r#""([a-z_]+)""#, &read(source))).collect();
    let alternatives: Vec<String> = value.split('|').map(str::to_owned).collect();
    let is_checked = !sources.is_empty();
    alternatives.into_iter().filter(move |alternative| {
        let whole = pattern(&format!("^(?:{alternative})$"));
        is_checked && !known.iter().any(|known| whole.is_match(known))
    })
}

async fn scrape(service: &Service, measured: &mut Measured) {
    for sample in samples(&service.get("/metrics").await.text).into_keys() {
        let (name, labels) = sample.split_once('{').unwrap_or((sample.as_str(), ""));
        let labels = labels.split("\",").filter_map(|label| Some(label.split_once("=\"")?.0.to_owned()));
        measured.entry(name.to_owned()).or_default().extend(labels);
    }
}

/// A scrape after everything that is counted has happened.
async fn measured() -> Measured {
    let mut measured = Measured::new();

    let meant = r#"{"location": "Seattle, WA", "format": "celsius", "num_days": 3}"#;
    let servers = vec![Server::new(Arc::new(Scripted::new().call("get_n_day_forecast", meant)))];
    let service = Service::asking(&["weather"], HttpOptions::default(), UnderstandOptions::default(), servers);
    let said =
        json!({"utterance": "how cold will it be in Seattle in the next 3 days, in celsius?", "strategy": "tools"});
    let answer = service.post("/v1/predict/weather", said.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(service.get("/nowhere").await.status, 404);
    scrape(&service, &mut measured).await;

    let service = Service::new(&["weather"]);
    let said = json!({"mode": "SKILL", "utterance": "how cold is it?"});
    let answer = service.post("/v1/predict/weather", said.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    scrape(&service, &mut measured).await;

    // A session with a call that is made here.
    let other = Shop::good().await;
    let service = shop::service(&other, "", &shop::options());
    for utterance in ["order red shoes in size 42", "yes"] {
        shop::say(&service, "s", utterance).await;
    }
    scrape(&service, &mut measured).await;

    // A store that cannot be had.
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("file"), "no directory").expect("a file");
    let url = StoreUrl::new(format!("sqlite:{}", directory.path().join("file/sessions.db").display()));
    let sessions = SessionOptions { url, ..SessionOptions::default() };
    let conversations = Conversations::open(&sessions, &ConversationOptions::default()).expect("good options");
    let service = Service::keeping(&["weather"], embedder(), conversations);
    let said = json!({"utterance": "hello", "session_id": "a"});
    let answer = service.post("/v1/predict/weather", said.to_string()).await;
    assert_eq!(answer.status, 503, "{}", answer.text);
    scrape(&service, &mut measured).await;
    measured
}

#[tokio::test]
async fn examples_name_what_the_service_measures() {
    let measured = measured().await;
    let shown: Vec<Shown> = dashboard().into_iter().chain(rules()).collect();
    assert!(shown.len() > 40, "{} expressions", shown.len());
    let faults: Vec<String> = shown.iter().flat_map(|one| one.faults(&measured)).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    // Each counter and histogram has a place.
    let all: String = shown.iter().map(|one| one.expression.as_str()).collect();
    for series in measured.keys() {
        let family = ["_bucket", "_sum", "_count", "_total"].iter().find_map(|end| series.strip_suffix(*end));
        assert!(all.contains(family.unwrap_or(series)), "{series} is shown nowhere");
    }
}

#[test]
fn what_is_made_up_is_found() {
    let labels = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let measured = Measured::from([
        ("uptake_turns_total".to_owned(), labels(&["module", "outcome"])),
        ("uptake_errors_total".to_owned(), labels(&["code"])),
    ]);
    for (expression, shown, expected) in [
        (r#"sum by (module) (rate(uptake_turns_total{job="uptake",outcome=~"call|d.ne"}[5m])) > 0.5"#, "module", ""),
        ("up{job=\"uptake\"} == 0", "instance", ""),
        ("sum(rate(uptake_turns_total[5m])) or vector(0)", "job", ""),
        ("uptake_errors_total unless uptake_errors_total offset 10m", "code", ""),
        ("rate(uptake_turn_total[5m])", "job", "`uptake_turn_total` is not measured"),
        ("rate(http_requests_total{job=\"uptake\"}[5m])", "job", "`http_requests_total` is not measured"),
        ("sum(made_up)", "job", "`made_up` is not measured"),
        (r#"up{module="shoes"}"#, "job", "`up` has no label `module`"),
        (r#"uptake_errors_total{module="shoes"}"#, "code", "`uptake_errors_total` has no label `module`"),
        (r#"uptake_errors_total{code=~"timeout|made_up"}"#, "code", "`code` is never `made_up`"),
        ("uptake_errors_total{code=made_up}", "code", "`code=made_up` cannot be read"),
        ("sum by (route) (uptake_errors_total)", "route", "there is no label `route` to group by"),
        ("sum by (code) (uptake_errors_total)", "job", "there is no label `job` to show"),
        ("uptake_errors_total", "module", "there is no label `module` to show"),
    ] {
        assert_eq!(faults(expression, &[shown.to_owned()], &measured).join("; "), expected, "{expression}");
    }
}

#[test]
fn a_cluster_waits_until_the_service_has_stopped() {
    let directory = tempfile::tempdir().expect("a directory");
    for name in ["base/uptake.toml", "replicas/with-postgresql.toml"] {
        let (_, file) = name.split_once('/').expect("a directory");
        fs::write(directory.path().join(file), read(&format!("examples/kubernetes/{name}"))).expect("a file");
    }
    let sources = Sources { directory: directory.path().to_owned(), ..Sources::default() };
    let loaded = Config::load(&sources).expect("good settings");
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let Config { http, conversation, sessions, .. } = &loaded.config;
    let secrets = [
        conversation.key_file.as_ref(),
        sessions.url_file.as_ref(),
        sessions.encryption_key_file.as_ref(),
        Some(&http.keys),
    ];
    for secret in secrets {
        assert!(secret.is_some_and(|path| path.starts_with("/run/secrets/uptake")), "all secrets are mounted there");
    }

    let deployment = yaml("examples/kubernetes/base/deployment.yml");
    let pod = &deployment["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let ports: Vec<u64> = items(&container["ports"]).filter_map(|port| port["containerPort"].as_u64()).collect();
    let admin: Option<u64> = http.admin.as_deref().and_then(|admin| admin.rsplit_once(':')?.1.parse().ok());
    assert_eq!(ports, [u64::from(http.port), admin.expect("an address for operators")]);
    let sleep = container["lifecycle"]["preStop"]["exec"]["command"][1].as_str();
    let sleep: u64 = sleep.and_then(|time| time.parse().ok()).expect("seconds");
    // Requests first, then what waits to be observed.
    let stops = sleep + 2 * http.shutdown_ms / 1_000;
    assert!(pod["terminationGracePeriodSeconds"].as_u64().is_some_and(|grace| grace > stops), "{stops} s are needed");
    let user = pod["securityContext"]["runAsUser"].as_u64().expect("a user");
    assert!(read("Dockerfile").contains(&format!("USER {user}:{user}")), "the image's user is {user}");
}
