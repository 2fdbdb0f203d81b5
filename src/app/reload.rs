//! A reload: the secrets are read again, and all of them are taken or none.
//!
//! Each secret has one place, and a request looks there once, so it is judged by the old one or by the new one. No
//! token is asked for: `docs/decisions/94-reload.md`.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use crate::api::Reloaded;
use crate::app::{App, Error};
use crate::config::{Config, SecretDigests, SettingProblem};
use crate::forge::client::ForgeClient;
use crate::runtime::mutex::lock;

const RESTART: &str = "it was not given at the start, or is not given any more; restart svcd";

/// Reads a configuration.
type Read = Box<dyn Fn() -> Result<Config, Vec<SettingProblem>> + Send + Sync>;

/// How secrets are read again.
pub struct Reload {
    read: Read,
    /// It signs with the key of the app; nothing means the forge is off.
    client: Option<Arc<ForgeClient>>,
    /// Those in use. Held during a reload: one that waits reads what the files hold after the one before.
    used: Mutex<SecretDigests>,
}

impl Reload {
    /// Returns how the secrets in use are read again, from where they were read at the start.
    #[must_use]
    pub fn new(read: Read, client: Option<Arc<ForgeClient>>, used: SecretDigests) -> Self {
        Self { read, client, used: Mutex::new(used) }
    }
}

impl App {
    /// Reads the secrets again. From the answer on, only those count that were read.
    ///
    /// # Errors
    /// [`Error::ReloadRefused`] when the configuration is not one that could be started with; then all secrets stay.
    pub fn reload(&self) -> Result<Reloaded, Error> {
        match self.take_secrets() {
            Ok(reloaded) => {
                let (changed, unchanged) =
                    (reloaded.changed.join(","), reloaded.unchanged.join(","));
                log::info!(event = "config.reloaded", changed, unchanged; "secrets were read again");
                Ok(reloaded)
            }
            Err(problems) => {
                let problems: Vec<String> =
                    problems.iter().map(SettingProblem::to_string).collect();
                let problems = problems.join("; ");
                log::error!(event = "config.reload_refused", problems; "a reload was refused; the old secrets stay in use");
                Err(Error::ReloadRefused(problems))
            }
        }
    }

    fn take_secrets(&self) -> Result<Reloaded, Vec<SettingProblem>> {
        let mut used = lock(&self.reload.used);
        let config = (self.reload.read)()?;
        let fresh = config.secrets.clone();
        // A part that is off stays off until the next start, and one that is on stays on.
        let strange: Vec<SettingProblem> =
            used.in_one_alone(&fresh).into_iter().map(|name| problem(name, RESTART)).collect();
        if !strange.is_empty() {
            return Err(strange);
        }
        self.replace_secrets(config).map_err(|problem| vec![problem])?;
        let names = used.of_both(&fresh).into_iter().map(Cow::Borrowed);
        let (unchanged, changed) = names.partition(|name| used.agree(&fresh, name));
        *used = fresh;
        Ok(Reloaded { changed, unchanged })
    }

    /// Puts all secrets in their places. What could fail comes first, although the configuration has judged it.
    fn replace_secrets(&self, config: Config) -> Result<(), SettingProblem> {
        if let Some(forge) = config.forge {
            if let Some(client) = &self.reload.client {
                let replaced = client.replace_key(&forge.private_key);
                replaced.map_err(|error| problem("SVC_FORGE_PRIVATE_KEY", error))?;
            }
            if let Some(intake) = &self.intake {
                let replaced = intake.secrets.replace(forge.webhook_secrets);
                replaced.map_err(|error| problem("SVC_WEBHOOK_SECRET", error))?;
            }
            if let Some(results) = &self.results {
                results.secrets.replace(forge.results.secrets);
            }
        }
        if let (Some(operators), Some(operator)) = (&self.operators, config.operator) {
            operators.replace(operator.token);
        }
        Ok(())
    }
}

fn problem(name: &str, what: impl ToString) -> SettingProblem {
    SettingProblem { name: name.to_owned(), what: what.to_string() }
}
