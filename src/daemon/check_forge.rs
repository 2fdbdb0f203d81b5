//! `svcd check-forge`: whether the app at the forge is set up as svcd needs it. Asks first, then decides; deciding is in
//! `diagnosis`.
//!
//! What is asked and what is not: `docs/decisions/121-check-forge.md`.

mod diagnosis;
mod finding;
mod report;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use super::EXIT_CONFIG;
use super::arguments::{Format, show_error, show_problems, show_unprinted};
use super::check_config::read_settings;
use super::forge::client;
use crate::config::{Config, SettingProblem};
use crate::forge::client::ForgeClient;
use crate::forge::inspection::{InstallationSettings, PAGE, Untold};
use crate::metrics::Metrics;
use crate::runtime::clock::{Clock, SystemClock};
use crate::runtime::notify::Notify;
use diagnosis::{Installations, Observations, TriedInstallation, diagnose};
use finding::{Finding, FindingSeverity};

/// Exit status for a forge that does not answer. As sysexits(3) has it.
const EXIT_UNAVAILABLE: u8 = 69;
/// After this time nothing more is asked. Each call has its own limit, too.
const BUDGET: Duration = Duration::from_secs(60);
/// Most pages of installations that are read.
const PAGES_MAX: usize = 5;
/// Most installations that a token is asked for.
const TOKENS_MAX: usize = 50;

/// Checks the app of a file's settings, or of those that a start would use, and says what is wrong with it.
#[must_use]
pub fn check(file: Option<&Path>, format: Format) -> ExitCode {
    let refuse = |place: Option<&str>, problems: &[SettingProblem]| {
        show_problems(place, problems);
        EXIT_CONFIG.into()
    };
    let read = match read_settings(file) {
        Ok(read) => read,
        Err(problem) => return refuse(None, &[problem]),
    };
    let place = read.place();
    let config = match Config::load(read.source) {
        Ok(config) => config,
        Err(problems) => return refuse(Some(&place), &problems),
    };
    let Some(forge) = &config.forge else {
        let off: Vec<SettingProblem> =
            config.warnings.into_iter().filter(|it| it.name == "SVC_WEBHOOK_SECRET").collect();
        return refuse(Some(&place), &off);
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let client = match client(forge, &clock, &Arc::new(Metrics::default()), &Notify::new()) {
        Ok(client) => client,
        Err(error) => {
            show_error(&error);
            return error.exit_status().into();
        }
    };
    let asked = Asked { client: &client, clock: &*clock };
    let mut observations = asked.observations(forge.app_id.get(), forge.api_url.clone());
    let public_url = config.mcp.as_ref().and_then(|mcp| mcp.public_url.as_ref());
    observations.webhook_wanted =
        public_url.map(|url| format!("{}{}", url.origin(), diagnosis::WEBHOOK_PATH));
    let findings = diagnose(&observations);
    let shown = match format {
        Format::Table => report::show(&place, &observations, &findings),
        Format::Json => report::document(&place, &observations, &findings),
    };
    match shown {
        Err(error) => show_unprinted(&error),
        Ok(()) if !observations.is_answered() => EXIT_UNAVAILABLE.into(),
        Ok(()) => exit_of(&findings),
    }
}

fn exit_of(findings: &[Finding]) -> ExitCode {
    let is_wrong = findings.iter().any(|finding| finding.severity == FindingSeverity::Error);
    ExitCode::from(u8::from(is_wrong))
}

struct Asked<'a> {
    client: &'a ForgeClient,
    clock: &'a dyn Clock,
}

impl Asked<'_> {
    /// Asks everything, one after another; nothing more once the forge does not tell which app we are.
    fn observations(&self, app_id: i64, api_url: String) -> Observations {
        let (ahead_seconds, app) = self.client.app_settings();
        let mut observations = Observations {
            api_url,
            app_id,
            webhook_wanted: None,
            ahead_seconds,
            app,
            webhook: None,
            deliveries: None,
            installations: None,
        };
        if observations.app.is_ok() {
            observations.webhook = Some(self.client.webhook_settings());
            observations.deliveries = Some(self.client.delivery_tries());
            observations.installations = Some(self.installations());
        }
        observations
    }

    fn installations(&self) -> Result<Installations, Untold> {
        let mut found: Vec<InstallationSettings> = Vec::new();
        let mut is_whole = false;
        for page in 1..=PAGES_MAX {
            if self.is_late() {
                break;
            }
            let listed = self.client.installations(page)?;
            is_whole = listed.len() < PAGE;
            found.extend(listed);
            if is_whole {
                break;
            }
        }
        let mut asked = 0;
        let tried = found.into_iter().map(|settings| {
            // One that is suspended gets none.
            let is_asked = !settings.is_suspended && asked < TOKENS_MAX && !self.is_late();
            asked += usize::from(is_asked);
            let token = is_asked.then(|| self.client.try_token(settings.id));
            TriedInstallation { settings, token }
        });
        Ok(Installations { tried: tried.collect(), is_whole })
    }

    fn is_late(&self) -> bool {
        self.clock.monotonic() >= BUDGET
    }
}
