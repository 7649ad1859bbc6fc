//! A real PostgreSQL server, if available.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use sqlx::{Connection as _, PgConnection};
use uptake::conversation::store::StoreUrl;

use super::fixture;

/// One server with databases of its own. It ends with this process, however that ends: `postgres.sh` watches it.
pub(crate) struct Cluster {
    /// The directory of its socket.
    directory: String,
    tls_port: Option<u16>,
    keeper: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
    _process: Child,
    databases: AtomicU32,
}

impl Cluster {
    /// The server shared by tests that leave it unchanged; see [`start`](Self::start).
    pub(crate) fn shared(test: &str) -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
        // A skip is reported for each test.
        installation(test)?;
        SHARED.get_or_init(|| Self::start(test)).as_ref()
    }

    /// A server that listens on `localhost` with this certificate of the fixtures; see [`start`](Self::start).
    pub(crate) fn start_with_tls(test: &str, certificate: &str) -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
        Self::launch(test, Some((port, fixture("tls").join(certificate))))
    }

    /// `None`, with a message that no test runner hides, if there is no server. With `UPTAKE_NEEDS_POSTGRES` set (as in
    /// CI) that is a failure.
    pub(crate) fn start(test: &str) -> Option<Self> {
        Self::launch(test, None)
    }

    fn launch(test: &str, tls: Option<(u16, PathBuf)>) -> Option<Self> {
        let (tls_port, certificate) = tls.unzip();
        let Installation { bin, fetched } = installation(test)?;
        let libraries = fetched.as_ref().map(|fetched| fetched.join("lib")).unwrap_or_default();
        let mut process = Command::new("sh")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/postgres.sh"))
            .args([bin, libraries, fetched.unwrap_or_default()])
            .arg(tls_port.map(|port| port.to_string()).unwrap_or_default())
            .arg(certificate.unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // With its own process group, an interrupt from the terminal ends us first, and then the server.
            .process_group(0)
            .spawn()
            .expect("a shell");
        let (input, output) = (process.stdin.take().expect("piped"), process.stdout.take().expect("piped"));
        let mut output = BufReader::new(output);
        let said = line(&mut output);
        let directory = said.strip_prefix("at ").unwrap_or_else(|| panic!("postgres.sh said {said:?}")).to_owned();
        let keeper = Mutex::new((input, output));
        Some(Self { directory, tls_port, keeper, _process: process, databases: AtomicU32::new(0) })
    }

    pub(crate) async fn database(&self) -> StoreUrl {
        StoreUrl::new(self.new_address().await)
    }

    /// The address of a new and empty database.
    pub(crate) async fn new_address(&self) -> String {
        let name = format!("d{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let create = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"));
        let mut connection = self.connect("postgres").await;
        sqlx::query(create).execute(&mut connection).await.expect("a new database");
        self.address(&name)
    }

    /// Connects to the database that [`database`](Self::database) made last.
    pub(crate) async fn connect_to_last(&self) -> PgConnection {
        self.connect(&format!("d{}", self.databases.load(Ordering::Relaxed) - 1)).await
    }

    async fn connect(&self, database: &str) -> PgConnection {
        for _ in 0..600 {
            match PgConnection::connect(&self.address(database)).await {
                Ok(connection) => return connection,
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
        let log = fs::read_to_string(format!("{}/log", self.directory)).unwrap_or_default();
        panic!("PostgreSQL was not ready in half a minute: {log}");
    }

    pub(crate) fn address(&self, database: &str) -> String {
        match self.tls_port {
            Some(port) => format!(
                "postgres://uptake@localhost:{port}/{database}?sslmode=verify-full&sslrootcert={}",
                fixture("tls/ca.crt").display()
            ),
            None => format!("postgres:///{database}?host={}&user=uptake", self.directory),
        }
    }

    /// Stops it, as an administrator would.
    pub(crate) fn stop(&self) {
        self.tell("stop");
    }

    /// Stops it without notice.
    pub(crate) fn crash(&self) {
        self.tell("crash");
    }

    /// Returns at once; the server takes a moment.
    pub(crate) fn start_again(&self) {
        self.tell("start");
    }

    fn tell(&self, command: &str) {
        let mut keeper = self.keeper.lock().expect("no test panicked here");
        writeln!(keeper.0, "{command}").expect("postgres.sh listens");
        assert_eq!(line(&mut keeper.1), "done");
    }
}

fn line(output: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    output.read_line(&mut line).expect("postgres.sh answers");
    line.trim_end().to_owned()
}

struct Installation {
    /// Directory with `initdb` and `postgres`.
    bin: PathBuf,
    /// The directory made by `scripts/get-postgres`, if it is that.
    fetched: Option<PathBuf>,
}

fn installation(test: &str) -> Option<Installation> {
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/postgres");
    let path = env::var_os("PATH").unwrap_or_default();
    // A link in the PATH leads to the directory where the server finds its files.
    let in_path =
        env::split_paths(&path).filter_map(|bin| Some(bin.join("initdb").canonicalize().ok()?.parent()?.to_owned()));
    let installed = in_path.chain(versions(Path::new("/usr/lib/postgresql"))).find(|bin| is_whole(bin));
    let found = installed.map(|bin| Installation { bin, fetched: None }).or_else(|| {
        let bin = versions(&fetched.join("usr/lib/postgresql")).into_iter().find(|bin| is_whole(bin))?;
        Some(Installation { bin, fetched: Some(fetched) })
    });
    if found.is_none() {
        let fetch = "scripts/get-postgres fetches it";
        assert!(env::var_os("UPTAKE_NEEDS_POSTGRES").is_none(), "{test} needs PostgreSQL: {fetch}");
        // Written straight to the terminal: the test runner shows captured output of failures only.
        let _ = writeln!(std::io::stderr(), "\n*** SKIPPED: {test}: there is no PostgreSQL here; {fetch} ***\n");
    }
    found
}

/// The `bin` of each version, newest first.
fn versions(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries.map(|entry| entry.path()).collect();
    found.sort_by_key(|path| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok()));
    found.into_iter().rev().map(|version| version.join("bin")).collect()
}

fn is_whole(bin: &Path) -> bool {
    ["initdb", "postgres"].iter().all(|program| bin.join(program).is_file())
}
