use std::{net::SocketAddr, sync::Arc};

use ::http::{Extensions, request::Parts};
use clap::Args;
use futures::{FutureExt as _, future::BoxFuture};
use tokio::net::TcpListener;

use super::{CliError, Core, End, runtime};
use crate::{
    act::Actor,
    config::Config,
    http::{self, AppState, Conversations, HttpOptions, Mounted, keys},
    mcp::{self, Admission, McpOptions, McpServer, Offer},
    shares::Owner,
};

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS")]
    host: Option<String>,
    /// Port to listen on; 0 takes any that is free
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Ask nobody for a key, though others may reach the address
    #[arg(long)]
    open: bool,
}

pub(super) fn run(args: ServeArgs, mut config: Config) -> Result<End, CliError> {
    if let Some(host) = args.host {
        config.http.host = host;
    }
    if let Some(port) = args.port {
        config.http.port = port;
    }
    config.http.open |= args.open;
    config.check().map_err(CliError::Setting)?;
    let runtime = runtime()?;
    runtime.block_on(async {
        // Before the model is loaded: an occupied port should fail at once.
        let (listener, address) = listen(&config.http).await?;
        let admin = match &config.http.admin {
            Some(admin) => Some(listen_for_operators(admin, &config.http).await?),
            None => None,
        };
        // Signals are handled from the start: as the first process of a container, nothing else would stop us while the
        // model loads.
        let mut stop = Box::pin(stop_signal()?);
        let core = tokio::select! {
            core = Core::calibrating(&config) => core?,
            () = &mut stop => return Ok(()),
        };
        let signing = config.conversation.signing(&config.sessions);
        let conversations =
            Conversations::open(&config.sessions, &signing).map_err(|error| CliError::Setting(error.to_string()))?;
        let actor = Actor::open(&config.actions).map_err(|error| CliError::Setting(error.to_string()))?;
        let conversations = conversations.acting(actor);
        let _sweeper = conversations.sweep_in_background();
        let (http, turns) = (config.http.clone(), config.understand.clone());
        let tokens = conversations.tokens();
        let (snapshots, understander) = (core.snapshots.clone(), core.understander.clone());
        let app = AppState::new(core.snapshots, core.understander, http, turns.clone(), conversations);
        // The same modules as tools for agents, beside the routes, with the same keys and limits.
        let options = McpOptions { offer: Offer::All, local: false };
        let agents = McpServer::new(snapshots, understander, turns, tokens, options, Arc::new(app.clone()));
        let mounted = Mounted::at(mcp::PATH, mcp::http_service(agents, config.http.body_bytes));
        tracing::info!(modules = %config.modules.root.display(), "listening on http://{address}");
        http::serve(listener, admin, app, Some(mounted), stop).await;
        Ok::<(), CliError>(())
    })?;
    // Running builds are cut off: what they have written is checked when it is read.
    runtime.shutdown_background();
    tracing::info!("stopped");
    Ok(End::Done)
}

async fn listen(options: &HttpOptions) -> Result<(TcpListener, SocketAddr), CliError> {
    let (host, port) = (options.host.as_str(), options.port);
    let listener = http::listener((host.trim_matches(['[', ']']), port))
        .await
        .map_err(CliError::io(format!("cannot listen on {host}:{port}; --port chooses another")))?;
    let address = listener.local_addr().map_err(CliError::io("the address cannot be read"))?;
    guarded(&address, options)?;
    Ok((listener, address))
}

async fn listen_for_operators(admin: &str, options: &HttpOptions) -> Result<TcpListener, CliError> {
    let listener =
        http::listener(admin).await.map_err(CliError::io(format!("cannot listen on {admin} (http.admin)")))?;
    let address = listener.local_addr().map_err(CliError::io("the address cannot be read"))?;
    guarded(&address, options)?;
    tracing::info!("listening on http://{address} for operators");
    Ok(listener)
}

/// Agents queue like other clients, and run no more calls at once than their key allows.
impl Admission for AppState {
    fn admit<'a>(&'a self, from: Option<&'a Parts>) -> BoxFuture<'a, Option<Box<dyn Send + 'a>>> {
        async move {
            let leave = self.leave(from.map_or(&Extensions::new(), |parts| &parts.extensions)).await?;
            Some(Box::new(leave) as Box<dyn Send>)
        }
        .boxed()
    }

    fn owner(&self, from: Option<&Parts>) -> Owner {
        from.map_or(Owner::Process, |parts| Self::owner(&parts.extensions))
    }
}

/// Refuses an address that others can reach, unless there are keys or the configuration says that none are needed.
///
/// # Errors
/// If there are no keys and `http.open` is not set.
pub(super) fn guarded(address: &SocketAddr, options: &HttpOptions) -> Result<(), CliError> {
    let known = keys::read(&options.keys).map_err(|error| CliError::Setting(error.to_string()))?;
    if address.ip().to_canonical().is_loopback() || options.open || !known.is_empty() {
        return Ok(());
    }
    let file = options.keys.display();
    Err(CliError::Setting(format!(
        "others reach {address}, and there are no keys in {file}: `uptake key add NAME` makes one, and --open lets everybody in"
    )))
}

/// The signal for a write beyond the limit of a file's size.
#[cfg(unix)]
const SIGXFSZ: i32 = 25;

/// Completes at the first SIGINT or SIGTERM.
#[cfg(unix)]
pub(super) fn stop_signal() -> Result<impl Future<Output = ()> + Send + 'static, CliError> {
    use tokio::signal::unix::{SignalKind, signal};

    let listen = |kind| signal(kind).map_err(CliError::io("signals cannot be listened for"));
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    // A file at its limit (`ulimit -f`) is an error of the write, as a full disk is. The signal would end the process.
    let file_limit = listen(SignalKind::from_raw(SIGXFSZ))?;
    Ok(async move {
        let _file_limit = file_limit;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "fails on other systems")]
pub(super) fn stop_signal() -> Result<impl Future<Output = ()> + Send + 'static, CliError> {
    Ok(async {
        // If signals cannot be received, only the end of the process stops the server.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
