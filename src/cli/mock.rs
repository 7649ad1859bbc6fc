use clap::Args;
use tokio::net::TcpListener;

use super::{CliError, End, report, runtime, serve::stop_signal, target};
use crate::{
    config::Config,
    http::Mock,
    module::{self, LoadError},
};

#[derive(Debug, Args)]
pub(super) struct MockArgs {
    /// A name under the modules root, or a directory
    #[arg(value_name = "MODULE")]
    module: String,
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on; 0 takes any that is free
    #[arg(long, value_name = "PORT", default_value_t = 3002)]
    port: u16,
}

pub(super) fn run(args: &MockArgs, mut config: Config) -> Result<End, CliError> {
    let name = target::resolve(&args.module, &mut config.modules)?;
    let directory = config.modules.root.join(name.as_str());
    if !directory.is_dir() {
        return Err(CliError::UnknownModule { name: name.to_string(), root: config.modules.root, hint: String::new() });
    }
    let refused = |error| match error {
        LoadError::Refused(diagnostics) => CliError::Refused { name: name.to_string(), diagnostics },
        LoadError::Io { path, source } => CliError::Io { what: path.display().to_string(), source },
    };
    let module = module::load(&directory, name.clone(), &config.modules.limits).map_err(refused)?;
    let answers = module::service_answers(&directory, &config.modules.limits).map_err(refused)?;
    let mock = Mock::new(&module, answers, config.http.body_bytes);
    let runtime = runtime()?;
    runtime.block_on(async {
        let (host, port) = (args.host.as_str(), args.port);
        let listener = TcpListener::bind((host.trim_matches(['[', ']']), port))
            .await
            .map_err(CliError::io(format!("cannot listen on {host}:{port}; --port chooses another")))?;
        let address = listener.local_addr().map_err(CliError::io("the address cannot be read"))?;
        let stop = stop_signal()?;
        report::line(&format!("{name}: a stand-in for its services at http://{address}; nothing is done"));
        for route in mock.routes() {
            report::line(&format!("  {route}"));
        }
        mock.serve(listener, &config.http, stop).await;
        Ok::<(), CliError>(())
    })?;
    Ok(End::Done)
}
