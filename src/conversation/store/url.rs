//! Addresses of stores.

use std::{fmt, path::Path};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sqlx::{ConnectOptions as _, postgres::PgConnectOptions};

use crate::llm::Secret;

/// Parameters that a URL may have besides user, password, host, port and database. Others would be ignored, and shown
/// in the log.
const PARAMETERS: [&str; 10] = [
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "host",
    "port",
    "user",
    "dbname",
    "application_name",
    "statement-cache-capacity",
];

/// The address of a store. `Debug`, `Display` and `Serialize` hide its password.
#[derive(Clone, PartialEq)]
pub struct StoreUrl(Secret);

impl StoreUrl {
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(Secret::new(text))
    }

    /// The whole address, including its password.
    pub(super) fn expose(&self) -> &str {
        self.0.expose()
    }

    pub(super) fn place(&self) -> Result<ParsedUrl<'_>, String> {
        let text = self.expose();
        if text == "memory:" {
            return Ok(ParsedUrl::Memory);
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return connect_options(text).map(|options| ParsedUrl::Postgres(Box::new(options)));
        }
        match text.strip_prefix("sqlite:") {
            Some(path) if path.is_empty() || path.starts_with("//") || path.starts_with(":memory:") => {
                Err("a path is needed after `sqlite:`, such as `sqlite:data/sessions.db`".to_owned())
            }
            Some(path) => Ok(ParsedUrl::Sqlite(Path::new(path))),
            None => Err("must be `sqlite:PATH`, `postgres://USER:PASSWORD@HOST/DATABASE` or `memory:`".to_owned()),
        }
    }
}

/// The parsed [`StoreUrl`].
pub(super) enum ParsedUrl<'a> {
    Memory,
    Sqlite(&'a Path),
    Postgres(Box<PgConnectOptions>),
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.expose();
        // Up to the last @, so that a password with unescaped reserved characters is hidden as a whole.
        let hidden = text.split_once("://").and_then(|(scheme, rest)| {
            let (user, host) = rest.rsplit_once('@')?;
            let (user, _) = user.split_once(':')?;
            Some(format!("{scheme}://{user}:***@{host}"))
        });
        formatter.write_str(hidden.as_deref().unwrap_or(text))
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.to_string())
    }
}

impl Serialize for StoreUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StoreUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Secret::deserialize(deserializer).map(Self)
    }
}

/// Parses a `postgres://` URL; the error shows nothing of it.
pub(super) fn connect_options(url: &str) -> Result<PgConnectOptions, String> {
    let parameters = url.split_once('?').map_or("", |(_, parameters)| parameters);
    let is_known = |parameter: &str| PARAMETERS.contains(&parameter.split('=').next().unwrap_or_default());
    if !parameters.split('&').filter(|parameter| !parameter.is_empty()).all(is_known) {
        return Err(format!("has a parameter that is none of {}", PARAMETERS.join(", ")));
    }
    let options = url.parse::<PgConnectOptions>().map_err(|_| {
        "is no address such as `postgres://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full` (special characters of a \
         password are written as %XX)"
            .to_owned()
    })?;
    // Logged statements would contain session ids.
    Ok(options.disable_statement_logging())
}
