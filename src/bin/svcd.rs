//! The daemon's entry: read the configuration, run, turn an error into an exit status.

use std::process::ExitCode;

use clap::Parser as _;
use svc::config::{Config, Source};
use svc::daemon::{
    self, EXIT_CONFIG, allocator,
    arguments::{Arguments, Command},
    check_config, check_forge, sockets,
};
use svc::logging;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return daemon::arguments::show_usage(&error),
    };
    match arguments.command {
        Some(Command::CheckConfig { env_file }) => {
            return check_config::check(env_file.as_deref());
        }
        Some(Command::CheckForge { env_file, output }) => {
            return check_forge::check(env_file.as_deref(), output);
        }
        None => {}
    }
    let configured = allocator::configure();
    let config = match Config::load(Source::process()) {
        Ok(config) => config,
        Err(problems) => {
            daemon::arguments::show_problems_of_start(&problems);
            return ExitCode::from(EXIT_CONFIG);
        }
    };
    let handed_over = match sockets::handed_over() {
        Ok(handed_over) => handed_over,
        Err(error) => {
            daemon::arguments::show_error(&error);
            return ExitCode::from(error.exit_status());
        }
    };
    // Only now, because the configuration says how lines are written.
    let _flush = logging::start(config.log);
    for warning in &config.warnings {
        log::warn!(event = "config.warning", setting = warning.name.as_str(), what:% = warning.what; "a setting turns a feature off, or is unsafe");
    }
    if let Err(error) = configured {
        log::warn!(event = "daemon.allocator_not_configured", error:% = error; "svcd could not restart itself with the allocator's setting and will keep memory that it no longer uses");
    }
    match daemon::run(config, handed_over) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            daemon::arguments::show_error(&error);
            ExitCode::from(error.exit_status())
        }
    }
}
