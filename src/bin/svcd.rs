//! The daemon's entry: read the configuration, run, turn an error into an exit status.

use std::process::ExitCode;

use clap::Parser as _;
use svc::config::{Config, Source};
use svc::daemon::{
    self,
    arguments::{Arguments, Command},
};
use svc::logging;

/// Exit status for a configuration that is wrong, or a database that must not be used: starting again
/// ends the same way. As sysexits(3) has it.
const EXIT_CONFIG: u8 = 78;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let config = match Config::load(Source::process()) {
        Ok(config) => config,
        Err(problems) => {
            daemon::arguments::show_problems(&problems);
            return ExitCode::from(EXIT_CONFIG);
        }
    };
    if let Some(Command::CheckConfig) = arguments.command {
        daemon::arguments::show_checked(&config);
        let may_become_ready = config.reconciliation.is_some();
        return if may_become_ready { ExitCode::SUCCESS } else { ExitCode::from(EXIT_CONFIG) };
    }
    // Only now, because the configuration says how lines are written.
    logging::start(config.log);
    for warning in &config.warnings {
        log::warn!(event = "config.warning", setting = warning.name.as_str(), what:% = warning.what; "a setting leaves something off");
    }
    match daemon::run(config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            daemon::arguments::show_error(&error);
            if error.needs_a_person() { ExitCode::from(EXIT_CONFIG) } else { ExitCode::FAILURE }
        }
    }
}
