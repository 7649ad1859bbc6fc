//! The binary, run as a person or a script runs it.

use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{copy, fixture, golden, shipped};

mod crash;
mod disk;
mod tls;

/// Runs in an empty directory, with only our settings and the embedder that needs no model.
struct Shell {
    directory: TempDir,
}

impl Shell {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_uptake"));
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("UPTAKE_") || name == "COLUMNS") {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .env("UPTAKE_EMBED__KIND", "hashed")
            .env("XDG_STATE_HOME", self.directory.path().join("state"))
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary runs")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

#[track_caller]
fn ends(output: &Output, code: i32) -> String {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "stdout: {out}\nstderr: {err}");
    assert!(!out.contains('\x1b') && !err.contains('\x1b'), "colours in a pipe");
    out
}

fn weather() -> String {
    fixture("modules/weather").to_string_lossy().into_owned()
}

/// Tests that need only the binary.
mod alone {
    use super::*;

    #[test]
    fn help_is_as_committed() {
        let shell = Shell::new();
        let mut all = ends(&shell.run(&["--help"]), 0);
        let verbs: Vec<String> = all
            .lines()
            .skip_while(|line| *line != "Commands:")
            .skip(1)
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
            .filter(|verb| verb != "help")
            .collect();
        assert!(verbs.len() >= 7, "{verbs:?}");
        for verb in verbs {
            all.push_str(&format!("\n$ uptake {verb} --help\n\n"));
            all.push_str(&ends(&shell.run(&[&verb, "--help"]), 0));
        }
        golden("tests/fixtures/help.txt", &all);
    }

    /// The generated example must be right, and without a warning.
    #[test]
    fn a_new_module_works_and_is_not_made_twice() {
        let shell = Shell::new();
        let modules = shell.directory.path().join("modules");
        ends(&shell.run(&["new", "lamp"]), 0);
        let told: Value = serde_json::from_str(&ends(&shell.run(&["check", "modules/lamp", "--json"]), 0)).unwrap();
        assert_eq!((&told["modules"][0]["errors"], &told["modules"][0]["warnings"]), (&0.into(), &0.into()), "{told}");
        for file in ["exemplars.json", "recognizers.json", "module.toml"] {
            let text = std::fs::read_to_string(modules.join("lamp").join(file)).unwrap();
            let named = text.split("../").nth(1).and_then(|rest| rest.split(['"', '\n']).next()).expect("a schema");
            assert!(modules.join(named).is_file(), "{file} names {named}");
        }
        std::fs::write(modules.join("lamp/exemplars.json"), "{}").unwrap();
        ends(&shell.run(&["new", "lamp"]), 2);
        assert_eq!(std::fs::read_to_string(modules.join("lamp/exemplars.json")).unwrap(), "{}");
        for name in ["../lamp", "a b", ".hidden", ""] {
            ends(&shell.run(&["new", name]), 2);
        }
    }

    #[test]
    fn shells_complete_and_manuals_are_written() {
        let shell = Shell::new();
        for (name, sign) in [("bash", "complete -F"), ("zsh", "#compdef uptake"), ("fish", "complete -c uptake")] {
            let script = ends(&shell.run(&["completions", name]), 0);
            assert!(script.contains(sign) && script.contains("round-trip"), "{name}: {script}");
        }
        let into = shell.directory.path().join("man");
        ends(&shell.run(&["man", &into.display().to_string()]), 0);
        let page = std::fs::read_to_string(into.join("uptake-eval.1")).expect("a page for each command");
        assert!(page.contains(".TH") && page.contains("round\\-trip"), "{page}");
    }

    /// As on a full disk.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_log_that_cannot_be_written_stops_nothing() {
        let shell = Shell::new();
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a device");
        // It has something to log, since there are no modules, and ends with its input.
        let output = shell.command(&["mcp"]).stderr(full).output().expect("the binary runs");
        ends(&output, 0);
    }

    #[test]
    fn a_wrong_command_line_is_2() {
        let shell = Shell::new();
        for arguments in [&["sing"][..], &[], &["serve", "--port", "x"], &["predict", "weather"], &["check"]] {
            ends(&shell.run(arguments), 2);
        }
        ends(&shell.run(&["predict", "weather", "hi", "--strategy", "magic"]), 2);
        ends(&shell.run(&["check", "no/such/directory"]), 2);
        ends(&shell.run(&["index", "a b"]), 2);
        ends(&shell.run(&["--version"]), 0);
    }

    #[test]
    fn wrong_settings_are_2_and_say_where() {
        let shell = Shell::new();
        std::fs::create_dir(shell.directory.path().join("config")).unwrap();
        std::fs::write(shell.directory.path().join("config/local.toml"), "[http]\nprot = 1\n").unwrap();
        let output = shell.run(&["config"]);
        ends(&output, 2);
        assert_eq!(text(&output.stderr), "error: config/local.toml: unknown key `http.prot`; did you mean `port`?\n");
        let output = shell.command(&["config"]).env("UPTAKE_CONFIG", "/dev/null").output().unwrap();
        assert!(ends(&output, 0).contains("port = 3001"));
    }

    #[test]
    fn the_effective_settings_hide_secrets() {
        let shell = Shell::new();
        let run = |arguments: &[&str]| {
            let mut command = shell.command(arguments);
            command.env("UPTAKE_LLM__API_KEY", "sk-secret").env("UPTAKE_HTTP__PORT", "4000");
            ends(&command.output().unwrap(), 0)
        };
        let toml = run(&["config"]);
        assert!(toml.contains("port = 4000") && toml.contains("UPTAKE_HTTP__PORT"), "{toml}");
        assert!(!toml.contains("sk-secret") && toml.contains("api_key = "), "{toml}");
        let json: Value = serde_json::from_str(&run(&["config", "--json", "--modules", "elsewhere"])).unwrap();
        assert_eq!((&json["http"]["port"], &json["modules"]["root"]), (&4000.into(), &"elsewhere".into()));
    }

    #[test]
    fn nobody_there_is_not_healthy() {
        let output = Shell::new().run(&["health", "--url", "http://127.0.0.1:1/healthz"]);
        assert!(ends(&output, 1).starts_with("not healthy: "));
        ends(&Shell::new().run(&["health", "--url", "ftp://x"]), 2);
    }

    #[test]
    fn a_probe_needs_a_model_server_that_answers() {
        let output = Shell::new().run(&["probe"]);
        ends(&output, 2);
        assert_eq!(text(&output.stderr), "error: no model server is configured; set `llm.base_url`\n");
        let probe = |arguments: &[&str]| {
            let shell = Shell::new();
            let mut command = shell.command(arguments);
            command.env("UPTAKE_LLM__BASE_URL", "http://127.0.0.1:1").env("UPTAKE_LLM__RETRIES", "0");
            ends(&command.output().expect("the binary runs"), 1)
        };
        let out = probe(&["probe", "--model", "big"]);
        assert!(out.starts_with("default at 127.0.0.1:1 (asked for big): could not be probed: "), "{out}");
        let json: Value = serde_json::from_str(&probe(&["probe", "--json"])).expect("one document");
        assert_eq!((&json["ok"], &json["servers"][0]["ok"]), (&false.into(), &false.into()));
        assert!(json["servers"][0]["hint"].as_str().is_some_and(|hint| hint.contains("running")), "{json}");
    }

    #[cfg(unix)]
    #[test]
    fn a_server_answers_and_stops_at_a_signal() {
        use std::io::{BufRead as _, BufReader};

        let shell = Shell::new();
        let mut server =
            shell.command(&["serve", "--port", "0"]).stderr(Stdio::piped()).spawn().expect("the binary runs");
        let mut lines = BufReader::new(server.stderr.take().expect("piped")).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| Some(line.split_once("listening on ")?.1.split(' ').next()?.to_owned()))
            .expect("it says where it listens");
        let healthy = shell.run(&["health", "--url", &format!("{address}/healthz")]);
        assert_eq!(ends(&healthy, 0), "healthy\n");
        let stopped = Command::new("kill").args(["-TERM", &server.id().to_string()]).status().expect("kill exists");
        assert!(stopped.success());
        // Read to the end, so that the server never waits for us to read.
        lines.for_each(drop);
        assert_eq!(server.wait().expect("it ends").code(), Some(0));
    }

    /// More clients than allowed open files. Idle connections make room for active ones.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_system_that_accepts_no_more_connections_is_told_of_and_got_over() {
        use std::{
            io::{BufRead as _, BufReader, Read as _, Write as _},
            net::TcpStream,
        };

        let shell = Shell::new();
        let plain = shell.command(&[]);
        let mut limited = Command::new("sh");
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => limited.env(name, value),
                None => limited.env_remove(name),
            };
        }
        let script = "ulimit -n 96; exec \"$0\" serve --port 0";
        limited.args(["-c", script, env!("CARGO_BIN_EXE_uptake")]).current_dir(shell.directory.path());
        let mut server = limited.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary runs");
        let mut lines = BufReader::new(server.stderr.take().expect("piped")).lines().map_while(Result::ok);
        let address = lines
            .by_ref()
            .find_map(|line| Some(line.split_once("listening on http://")?.1.split(' ').next()?.to_owned()))
            .expect("it says where it listens");
        let waiting: Vec<TcpStream> = (0..120).map_while(|_| TcpStream::connect(&address).ok()).collect();
        let mut asking = TcpStream::connect(&address).expect("the system has a place for it");
        let request = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        asking.write_all(request.as_bytes()).expect("a connection");
        let mut answer = String::new();
        asking.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        drop(waiting);
        let stopped = Command::new("kill").args(["-TERM", &server.id().to_string()]).status().expect("kill exists");
        assert!(stopped.success());
        let told: Vec<String> = lines.collect();
        assert!(told.iter().any(|line| line.contains("no connection can be accepted")), "{told:#?}");
        assert_eq!(server.wait().expect("it ends").code(), Some(0));
    }

    #[test]
    fn keys_are_made_listed_and_revoked() {
        let shell = Shell::new();
        let made = ends(&shell.run(&["key", "add", "the frontend", "--scope", "predict", "--per-minute", "60"]), 0);
        let id = made.split('_').nth(1).expect("uk_ID_SECRET").to_owned();
        let listed = ends(&shell.run(&["key", "list"]), 0);
        assert!(listed.contains(&id) && listed.contains("the frontend") && listed.contains("60 a minute"), "{listed}");
        assert!(!listed.contains(made.trim()));
        ends(&shell.run(&["key", "revoke", "nobody"]), 1);
        ends(&shell.run(&["key", "revoke", &id]), 0);
        assert_eq!(ends(&shell.run(&["key", "list"]), 0), "");
        ends(&shell.run(&["key", "add", "x", "--module", "../x"]), 2);
    }

    /// Refused before anything is loaded.
    #[test]
    fn an_address_that_others_reach_is_not_served_without_keys() {
        let shell = Shell::new();
        for arguments in [&["serve", "--host", "0.0.0.0", "--port", "0"][..], &["mcp", "--http", "0.0.0.0:0"]] {
            let output = shell.run(arguments);
            ends(&output, 2);
            let told = text(&output.stderr);
            assert!(told.contains("uptake key add") && told.contains("--open"), "{told}");
        }
        // With an unreadable key file it is unknown whether there are keys, wherever it listens.
        std::fs::create_dir(shell.directory.path().join("data")).expect("a directory");
        std::fs::write(shell.directory.path().join("data/keys.json"), "{").expect("a file");
        ends(&shell.run(&["serve", "--port", "0"]), 2);
    }
}

/// Tests with a module on disk.
mod modules {
    use super::*;

    #[test]
    fn check_finds_nothing_in_a_good_module() {
        let shell = Shell::new();
        let out = ends(&shell.run(&["check", &weather()]), 0);
        let (verdict, how) = out.split_once('\n').unwrap_or_default();
        assert_eq!(verdict, "weather: ok, 0 errors, 0 warnings");
        assert!(how.contains("get_n_day_forecast.num_days is read with unit = \"days\""), "{out}");
        let json: Value = serde_json::from_str(&ends(&shell.run(&["check", "--json", &weather()]), 0)).unwrap();
        assert_eq!((&json["ok"], &json["modules"][0]["module"]), (&true.into(), &"weather".into()));
    }

    #[test]
    fn check_says_which_cases_can_be_used() {
        let shell = Shell::new();
        let module = shell.directory.path().join("own");
        std::fs::create_dir(&module).expect("a directory");
        let schema = "[{\"name\": \"ring\", \"parameters\": {\"type\": \"object\", \"properties\": {}}}]";
        std::fs::write(module.join("schema.json"), schema).expect("a file");
        let path = module.to_string_lossy().into_owned();
        assert!(!ends(&shell.run(&["check", &path]), 0).contains("can be used"), "there are no cases");
        let cases =
            "{\"utterance\": \"ring\", \"function\": \"ring\"}\n{\"utterance\": \"sing\", \"function\": \"sing\"}\n{";
        std::fs::write(module.join("cases.jsonl"), cases).expect("a file");
        let dialogue = "{\"turns\": [{\"user\": \"ring\", \"expect\": {\"function\": \"ring\"}}]}";
        std::fs::write(module.join("dialogues.jsonl"), dialogue).expect("a file");
        let out = ends(&shell.run(&["check", &path]), 0);
        assert!(out.contains("1 case and 1 dialogue can be used"), "{out}");
        assert!(out.contains("cases.jsonl:2: ") && out.contains("cases.jsonl:3: "), "{out}");
        let json: Value = serde_json::from_str(&ends(&shell.run(&["check", "--json", &path]), 0)).unwrap();
        assert_eq!(json["modules"][0]["usable"]["problems"].as_array().map(Vec::len), Some(2), "{json}");
        std::fs::write(module.join("dialogues.jsonl"), b"\xff").expect("a file");
        let out = ends(&shell.run(&["check", &path]), 0);
        assert!(out.contains("dialogues.jsonl") && out.contains("unreadable-cases"), "{out}");
    }

    #[test]
    fn a_project_is_imported_evaluated_and_exported() {
        let shell = Shell::new();
        let project = fixture("import/clu").to_string_lossy().into_owned();
        let out = ends(&shell.run(&["import", "clu", &project, "--into", "modules/mail"]), 0);
        assert!(out.starts_with("mail: 3 functions, 6 slots, 9 exemplars, ") && out.contains("\ndropped 5\n"), "{out}");
        ends(&shell.run(&["import", "clu", &project, "--into", "modules/mail"]), 2);
        let again = shell.run(&["import", "clu", &project, "--into", "modules/mail", "--force", "--json"]);
        let report: Value = serde_json::from_str(&ends(&again, 0)).expect("one document");
        assert_eq!((&report["written"]["cases"], &report["format"]), (&5.into(), &"clu".into()));
        let evaluated = ends(&shell.run(&["eval", "mail", "--json"]), 0);
        let evaluated: Value = serde_json::from_str(&evaluated).expect("one document");
        assert_eq!(evaluated["scores"]["function"]["best_guess"], 1.0, "{evaluated}");
        let output = shell.run(&["export", "mail", "--format", "calls", "--out", "calls.jsonl"]);
        assert_eq!(ends(&output, 0), "");
        let written = std::fs::read_to_string(shell.directory.path().join("calls.jsonl")).expect("records");
        assert!(text(&output.stderr).starts_with(&format!("{} records", written.lines().count())));
        let printed = ends(&shell.run(&["export", "mail", "--format", "pairs", "--negatives", "1"]), 0);
        assert!(
            printed.lines().all(|line| serde_json::from_str::<Value>(line).is_ok_and(|one| one["anchor"].is_string()))
        );
        ends(&shell.run(&["export", "nothing", "--format", "pairs"]), 1);
        std::fs::write(shell.directory.path().join("half.json"), "{\"assets\": ").expect("a file");
        let output = shell.run(&["import", "clu", "half.json", "--into", "modules/half"]);
        ends(&output, 1);
        assert!(text(&output.stderr).contains("half.json:1:"), "{}", text(&output.stderr));
        ends(&shell.run(&["import", "clu", "none.json", "--into", "modules/half"]), 3);
    }

    #[test]
    fn check_of_a_broken_module_is_1_and_lists_every_fault() {
        let shell = Shell::new();
        let broken = shell.directory.path().join("broken");
        std::fs::create_dir(&broken).unwrap();
        std::fs::write(broken.join("schema.json"), r#"[{"name": "a", "parameters": {"type": "object"}}]"#).unwrap();
        std::fs::write(broken.join("exemplars.json"), r#"{"b": [{"template": "hello"}], "c": []}"#).unwrap();
        let out = ends(&shell.run(&["check", "broken", "--json"]), 1);
        let json: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(json["ok"], false);
        let found = json["modules"][0]["diagnostics"].as_array().unwrap();
        let at = |pointer: &str| found.iter().any(|one| one["file"] == "exemplars.json" && one["pointer"] == pointer);
        assert!(at("/b") && at("/c"), "{out}");
        assert!(ends(&shell.run(&["check", "broken"]), 1).contains("error["));
    }

    #[test]
    fn check_tells_of_a_language_that_the_model_was_not_trained_on() {
        let shell = Shell::new();
        let module = shell.directory.path().join("lampen");
        std::fs::create_dir(&module).unwrap();
        std::fs::write(module.join("schema.json"), r#"[{"name": "a", "parameters": {"type": "object"}}]"#).unwrap();
        for (language, warns) in [("nl", true), ("de-AT", false), ("ja", false)] {
            std::fs::write(module.join("module.toml"), format!("language = \"{language}\"")).unwrap();
            let out =
                ends(&shell.command(&["check", "lampen"]).env("UPTAKE_EMBED__KIND", "bundled").output().unwrap(), 0);
            assert_eq!(out.contains("unspoken-language"), warns, "{language}: {out}");
        }
    }

    #[test]
    fn predict_prints_a_call_and_tells_scripts() {
        let shell = Shell::new();
        let said = "how cold will it be in seattle in the next 3 days, in celsius?";
        let out = ends(&shell.run(&["predict", &weather(), said]), 0);
        assert!(out.starts_with("call ") && out.contains("get_n_day_forecast({\"location\":\"Seattle, WA\""), "{out}");
        let json = ends(&shell.run(&["predict", &weather(), said, "--json"]), 0);
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["choices"][0]["finish_reason"], "tool_calls");
        let root = fixture("modules").to_string_lossy().into_owned();
        ends(&shell.run(&["predict", "--modules", &root, "weather", "what is the weather like right now"]), 1);
        ends(&shell.run(&["predict", "--modules", &root, "weather", " "]), 2);
        let output = shell.run(&["predict", "--modules", &root, "wether", "hello"]);
        ends(&output, 1);
        assert!(text(&output.stderr).contains("did you mean `weather`?"));
    }

    #[test]
    fn eval_measures_labelled_utterances() {
        let shell = Shell::new();
        let write = |name: &str, lines: &[&str]| {
            let path = shell.directory.path().join(name);
            std::fs::write(&path, lines.join("\n")).expect("a writable directory");
            path.to_string_lossy().into_owned()
        };
        let good = write(
            "good.jsonl",
            &[
                r#"{"utterance": "what is the weather like in seattle right now", "function": "get_current_weather",
                "arguments": {"location": "Seattle, WA"}}"#
                    .replace('\n', " ")
                    .as_str(),
                r#"{"utterance": "zyx wvu tsr", "function": null}"#,
                r#"{"turns": [{"user": "what is the weather like in seattle right now", "expect": {"outcome": "call"}}]}"#,
            ],
        );
        let bad = write("bad.jsonl", &["", "{}"]);
        let json = ends(&shell.run(&["eval", &weather(), "--cases", &good, "--json", "--errors"]), 0);
        let json: Value = serde_json::from_str(&json).expect("one document");
        assert_eq!((&json["scores"]["cases"], &json["dialogues"]["plain"]["right"]), (&2.into(), &1.into()));
        assert_eq!(json["scores"]["function"]["recall"]["1"], 1.0, "{json}");
        assert_eq!(json["scores"]["slots"]["f1"], 1.0, "{json}");
        let output = shell.run(&["eval", &weather(), "--cases", &good, "--cases", &bad]);
        assert!(ends(&output, 1).ends_with("bad.jsonl:2: `utterance` is missing\n"));
        assert!(output.stderr.is_empty(), "no progress in a pipe: {}", text(&output.stderr));
        ends(&shell.run(&["eval", &weather()]), 2);
        ends(&shell.run(&["eval", &weather(), "--cases", &good, "--strategy", "tools"]), 2);
    }

    #[test]
    fn predict_says_what_the_server_would_say() {
        let shell = Shell::new();
        let restaurant = shipped().join("restaurant").to_string_lossy().into_owned();
        let said = "I'd like to order a margherita for delivery";
        let out = ends(&shell.run(&["predict", &restaurant, said]), 1);
        assert!(out.starts_with("ask "), "what is to be confirmed is no call yet: {out}");
    }

    #[test]
    fn a_module_is_measured_by_its_own_templates() {
        let shell = Shell::new();
        let trip = ends(&shell.run(&["eval", &weather(), "--round-trip", "--json", "--fillings", "1"]), 0);
        let trip: Value = serde_json::from_str(&trip).expect("one document");
        assert_eq!(trip["templates"], 5, "{trip}");
        assert!(trip["scores"]["by_kind"]["carried"]["cases"].as_u64().is_some_and(|cases| cases > 0));
        assert!(ends(&shell.run(&["eval", &weather(), "--round-trip"]), 0).contains("wholly right"));
        let out = ends(&shell.run(&["eval", &weather(), "--leave-one-out", "--json"]), 0);
        let out: Value = serde_json::from_str(&out).expect("one document");
        assert_eq!(out["scores"]["cases"], 5, "{out}");
        let output = shell.run(&["lint", &weather(), "--json"]);
        let found: Value = serde_json::from_str(&text(&output.stdout)).expect("one document");
        assert_eq!(found[0]["module"], "weather");
    }

    #[test]
    fn reports_are_compared_and_shown_as_a_page() {
        let shell = Shell::new();
        let path = |name: &str| shell.directory.path().join(name).to_string_lossy().into_owned();
        let (cases, first, second, page) = (path("cases.jsonl"), path("a.json"), path("b.json"), path("page.html"));
        std::fs::write(&cases, r#"{"utterance": "weather in seattle", "function": "get_current_weather"}"#).unwrap();
        for report in [&first, &second] {
            let out = shell.run(&["eval", &weather(), "--cases", &cases, "--json", "--html", &page]);
            std::fs::write(report, ends(&out, 0)).unwrap();
        }
        let compared = ends(&shell.run(&["eval", "--compare", &first, &second]), 0);
        assert!(compared.starts_with("1 case in both") && compared.contains("+0.0"), "{compared}");
        assert!(std::fs::read_to_string(&page).unwrap().contains("<svg"));
        ends(&shell.run(&["eval", "--compare", &first, &cases]), 2);
        ends(&shell.run(&["eval"]), 2);
    }

    #[test]
    fn index_builds_once() {
        let shell = Shell::new();
        let directory = tempfile::tempdir().unwrap();
        copy(&fixture("modules").join("weather"), &directory.path().join("weather"));
        let root = directory.path().to_string_lossy().into_owned();
        let built = |arguments: &[&str]| -> Value {
            serde_json::from_str(&ends(&shell.run(arguments), 0)).expect("one line of JSON")
        };
        let first = built(&["index", "--modules", &root, "--json"]);
        assert_eq!((&first["ok"], &first["module"]), (&true.into(), &"weather".into()));
        assert!(first["embedded"].as_u64().is_some_and(|texts| texts > 0));
        let second = built(&["index", "--modules", &root, "--json", "weather"]);
        assert_eq!(second["embedded"], 0);
        let output = shell.run(&["index", "--modules", &root]);
        assert!(ends(&output, 0).starts_with("weather: 2 functions, 5 exemplars"));
        assert!(output.stderr.is_empty(), "no progress in a pipe: {}", text(&output.stderr));
    }

    /// The output of the repl of this module for these lines.
    fn repl(shell: &Shell, module: &str, settings: &[(&str, &str)], lines: &str) -> String {
        use std::io::Write as _;

        let mut repl = shell
            .command(&["repl", module])
            .envs(settings.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        repl.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("it reads");
        ends(&repl.wait_with_output().expect("it ends"), 0)
    }

    #[test]
    fn the_repl_answers_lines_from_a_pipe() {
        let shell = Shell::new();
        let lines = "hello\nhow warm is it in seattle in celsius\n:mentions\n:why\n:nonsense\n:reload\n:help\n:quit\n";
        let out = repl(&shell, &weather(), &[], lines);
        for expected in [
            "Hello! What can I do for you?",
            "get_current_weather(",
            "\"seattle\" -> \"Seattle, WA\" city",
            "dense ",
            "no command :nonsense",
            ":mentions",
        ] {
            assert!(out.contains(expected), "{expected} in {out}");
        }
        assert!(shell.directory.path().join("state/uptake/history").is_file());
    }

    #[test]
    fn the_repl_makes_calls_where_actions_are_on() {
        use std::io::{BufRead as _, BufReader, Write as _};

        let shell = Shell::new();
        let module = shell.directory.path().join("weather");
        copy(std::path::Path::new(&weather()), &module);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let host = listener.local_addr().expect("a bound port").to_string();
        let settings = std::fs::read_to_string(module.join("module.toml")).expect("a file");
        let endpoint =
            format!("[functions.get_current_weather]\nendpoint = {{ method = \"GET\", url = \"http://{host}/now\" }}");
        std::fs::write(module.join("module.toml"), format!("{settings}\n{endpoint}\n")).expect("a file");
        let asked = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut line = String::new();
            BufReader::new(stream.try_clone().expect("a socket")).read_line(&mut line).expect("a request");
            let answer = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 17\r\nconnection: close\r\n\r\nIt is 3 degrees.\n";
            stream.write_all(answer.as_bytes()).expect("an answer");
            line
        });
        let module = module.to_string_lossy();
        let said = "how warm is it in seattle in celsius\n";
        let out = repl(&shell, &module, &[], said);
        assert!(out.contains("get_current_weather(") && !out.contains("It is 3 degrees."), "{out}");
        let settings = [
            ("UPTAKE_ACTIONS__ENABLED", "true"),
            ("UPTAKE_ACTIONS__HOSTS", host.as_str()),
            ("UPTAKE_ACTIONS__NETWORKS", "127.0.0.1"),
        ];
        let out = repl(&shell, &module, &settings, said);
        assert!(out.contains("It is 3 degrees.") && out.contains("get_current_weather done in"), "{out}");
        assert!(asked.join().expect("a request").starts_with("GET /now?"), "{out}");
    }
}
