use clap::Args;
use tokio::net::TcpListener;

use super::{
    CliError, Core, End, prepare_failed, runtime,
    serve::{guarded, stop_signal},
    target,
};
use crate::{
    config::Config,
    conversation::{Tokens, store::Sessions},
    http::{self, Mounted},
    mcp::{self, McpOptions, McpServer, Offer},
    module::ModuleName,
    snapshot::PrepareError,
};

#[derive(Debug, Args)]
pub(super) struct McpArgs {
    /// Names of modules, or one directory; every module under the root if none is given
    #[arg(value_name = "MODULE")]
    names: Vec<String>,
    /// Listen for streamable HTTP at http://HOST:PORT/mcp instead of speaking over stdin and stdout
    #[arg(long, value_name = "HOST:PORT")]
    http: Option<String>,
    /// A name under which clients reach it, beside localhost and HOST; may be repeated
    #[arg(long, value_name = "NAME", requires = "http")]
    allow_host: Vec<String>,
    /// Ask nobody for a key, though others may reach the address
    #[arg(long, requires = "http")]
    open: bool,
    /// Never ask a model server
    #[arg(long)]
    local: bool,
}

impl McpArgs {
    /// With HTTP it is a server that logs its normal operation; over stdio it is a child process.
    pub(super) const fn listens(&self) -> bool {
        self.http.is_some()
    }
}

pub(super) fn run(args: McpArgs, mut config: Config) -> Result<End, CliError> {
    let names = names(&args.names, &mut config)?;
    if args.local {
        config.llm.base_url = None;
        config.llm.fallbacks.clear();
    }
    config.http.open |= args.open;
    let runtime = runtime()?;
    runtime.block_on(async {
        // Before the model is loaded: an occupied address should fail at once.
        let listener = match &args.http {
            Some(address) => {
                let listener = listen(address).await?;
                let at = listener.local_addr().map_err(CliError::io("the address cannot be read"))?;
                guarded(&at, &config.http)?;
                Some(listener)
            }
            None => None,
        };
        // Signals are handled from the start: as the first process of a container, nothing else would stop us while the
        // model loads.
        let mut stop = Box::pin(stop_signal()?);
        let core = tokio::select! {
            core = Core::calibrating(&config) => core?,
            () = &mut stop => return Ok(()),
        };
        let on_disk = core.snapshots.on_disk();
        if let Some(missing) = names.iter().find(|name| !on_disk.contains(name)) {
            return Err(prepare_failed(PrepareError::Unknown(missing.clone()), &core.snapshots, &config));
        }
        if on_disk.is_empty() {
            let root = config.modules.root.display();
            tracing::warn!("there are no modules under {root}; --modules names another directory");
        }
        let options = McpOptions { offer: Offer::of(names), local: args.local };
        let permits = std::sync::Arc::new(config.http.turns());
        let setting = |error: &dyn std::fmt::Display| CliError::Setting(error.to_string());
        let sessions = Sessions::open(&config.sessions).map_err(|error| setting(&error))?;
        let signing = config.conversation.signing(&config.sessions);
        let tokens = Tokens::open(&signing, sessions).map_err(|error| setting(&error))?;
        let server =
            McpServer::new(core.snapshots, core.understander, config.understand.clone(), tokens, options, permits);
        let warming = tokio::spawn({
            let server = server.clone();
            async move { server.warm_up().await }
        });
        let body_bytes = config.http.body_bytes;
        let served = match (listener, &args.http) {
            (Some(listener), Some(address)) => {
                let at = listener.local_addr().map_err(CliError::io("the address cannot be read"))?;
                tracing::info!(modules = %config.modules.root.display(), "listening on http://{at}{}", mcp::PATH);
                config.http.allowed_hosts.extend(host(address).map(str::to_owned).into_iter().chain(args.allow_host));
                let mounted = Mounted::at(mcp::PATH, mcp::http_service(server, body_bytes));
                http::serve_alone(listener, mounted, &config.http, stop).await;
                Ok(())
            }
            _ => mcp::serve_stdio(server, body_bytes, stop).await.map_err(CliError::from),
        };
        warming.abort();
        served
    })?;
    // Running builds, and a blocking read of standard input, end with the process.
    runtime.shutdown_background();
    Ok(End::Done)
}

fn names(arguments: &[String], config: &mut Config) -> Result<Vec<ModuleName>, CliError> {
    match arguments {
        // Only a single argument may be a directory: its parent becomes the root.
        [one] => Ok(vec![target::resolve(one, &mut config.modules)?]),
        several => several
            .iter()
            .map(|name| ModuleName::new(name).map_err(|error| CliError::Usage(format!("`{name}`: {error}"))))
            .collect(),
    }
}

async fn listen(address: &str) -> Result<TcpListener, CliError> {
    http::listener(address)
        .await
        .map_err(CliError::io(format!("cannot listen on {address}; --http wants HOST:PORT, such as 127.0.0.1:3003")))
}

/// The host in `HOST:PORT` that clients may use; the address of all interfaces is not a host name.
fn host(address: &str) -> Option<&str> {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host).trim_matches(['[', ']']);
    (!matches!(host, "" | "0.0.0.0" | "::")).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_is_no_name() {
        for (address, expected) in [
            ("127.0.0.1:3002", Some("127.0.0.1")),
            ("[::1]:3002", Some("::1")),
            ("uptake.example:80", Some("uptake.example")),
            ("0.0.0.0:3002", None),
            ("[::]:3002", None),
            (":3002", None),
        ] {
            assert_eq!(host(address), expected, "{address}");
        }
    }
}
