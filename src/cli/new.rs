use std::{fs, path::Path};

use clap::Args;

use super::{CliError, End, import::ImportArgs, report};
use crate::{
    config::Config,
    import::Format,
    module::{self, ModuleName},
};

/// Beside the modules, under a name that no module can have.
const SCHEMAS: &str = ".schemas";

const SCHEMA: &str = include_str!("new/schema.json");
const EXEMPLARS: &str = include_str!("new/exemplars.json");
const RECOGNIZERS: &str = include_str!("new/recognizers.json");
const SETTINGS: &str = include_str!("new/module.toml");
const CASES: &str = include_str!("new/cases.jsonl");
const DIALOGUES: &str = include_str!("new/dialogues.jsonl");

#[derive(Debug, Args)]
pub(super) struct NewArgs {
    /// Name of the module, which is made under the modules root
    #[arg(value_name = "NAME")]
    name: String,
    /// Make it of a project of this format, as `uptake import` does
    #[arg(long, value_name = "FORMAT", requires = "path")]
    from: Option<Format>,
    /// That project: a directory, a .zip archive, or one file
    #[arg(value_name = "PATH", requires = "from")]
    path: Option<std::path::PathBuf>,
}

pub(super) fn run(args: NewArgs, config: &Config) -> Result<End, CliError> {
    let name = ModuleName::new(&args.name).map_err(|error| CliError::Usage(error.to_string()))?;
    let root = &config.modules.root;
    let directory = root.join(name.as_str());
    write_schemas(&root.join(SCHEMAS))?;
    if let (Some(format), Some(path)) = (args.from, args.path) {
        return super::import::run(&ImportArgs::plain(format, path, directory), config);
    }
    if directory.exists() {
        return Err(CliError::Usage(format!("{} is there already", directory.display())));
    }
    fs::create_dir_all(&directory).map_err(CliError::io(directory.display().to_string()))?;
    for (file, text) in [
        ("schema.json", SCHEMA),
        ("exemplars.json", EXEMPLARS),
        ("recognizers.json", RECOGNIZERS),
        ("module.toml", SETTINGS),
        ("cases.jsonl", CASES),
        ("dialogues.jsonl", DIALOGUES),
    ] {
        let path = directory.join(file);
        fs::write(&path, text).map_err(CliError::io(path.display().to_string()))?;
    }
    let shown = directory.display();
    report::line(&format!(
        "{shown} is a module that works: change it into yours.\n\
         \x20 schema.json       the functions, and what each needs to know\n\
         \x20 exemplars.json    what people say for each\n\
         \x20 recognizers.json  your own lists and patterns\n\
         \x20 module.toml       settings, each with what it does\n\
         \x20 cases.jsonl, dialogues.jsonl  what should come of what is said\n\n\
         uptake check {shown}\n\
         uptake predict {name} \"turn the kitchen light on\"\n\
         uptake eval {name} --errors"
    ));
    Ok(End::Done)
}

/// Writes the JSON Schemas that the files refer to, for editors.
fn write_schemas(directory: &Path) -> Result<(), CliError> {
    fs::create_dir_all(directory).map_err(CliError::io(directory.display().to_string()))?;
    for (file, schema) in module::schemas::all() {
        let path = directory.join(file);
        fs::write(&path, format!("{schema:#}\n")).map_err(CliError::io(path.display().to_string()))?;
    }
    Ok(())
}
