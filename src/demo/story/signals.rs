//! A signal fires and recovers. Most look back over many minutes; this one is about now.

use super::Teller;
use super::queries::parse;
use crate::api;
use crate::demo;
use crate::demo::stage::Stage;

const SIGNAL: &str = "disk_free";
/// Less than the signal calls enough.
const MEBIBYTES: u64 = 128;

impl Teller<'_> {
    pub(super) fn signals(&mut self) -> Result<(), demo::Error> {
        self.await_health("a signal that fires already to recover", "healthy")?;
        self.a_signal_fires()?;
        self.it_recovers()?;
        self.each_was_said_once()
    }

    fn a_signal_fires(&mut self) -> Result<(), demo::Error> {
        self.say(&format!("The daemon also evaluates signals about itself, and none has fired so far. Now a limit of {MEBIBYTES} MiB is set on the size of its files, as prlimit --fsize does:"))?;
        self.stage.limit_files(Some(MEBIBYTES << 20))?;
        self.await_health("the signal to fire", "critical")?;
        self.run(&["slo"], 8)?;
        self.say("The signal fires before any data is lost. svcd still accepts webhooks:")?;
        self.run(&["status"], 0)?;
        let webhook = self.stage.webhooks.installation("unsuspend");
        self.deliver("installation.unsuspend", &webhook)
    }

    fn it_recovers(&mut self) -> Result<(), demo::Error> {
        self.say("The limit is lifted:")?;
        self.stage.limit_files(None)?;
        self.await_health("the signal to recover", "healthy")?;
        self.run(&["slo"], 0)?;
        Ok(())
    }

    fn each_was_said_once(&mut self) -> Result<(), demo::Error> {
        self.say(&format!("In the log {SIGNAL} has fired once and recovered once:"))?;
        for event in ["worker.control_plane_slo_firing", "worker.control_plane_slo_recovered"] {
            let lines = self.wait("the line in the log", |stage| {
                let mut lines = stage.events(event);
                lines.retain(|line| line.get("signal").is_some_and(|signal| signal == SIGNAL));
                Ok(Some(lines).filter(|lines| !lines.is_empty()))
            })?;
            for line in &lines {
                self.show(&line.to_string())?;
            }
            self.expect(&format!("lines of {event}"), &1, &lines.len())?;
        }
        Ok(())
    }

    fn await_health(&mut self, what: &'static str, health: &str) -> Result<(), demo::Error> {
        self.wait(what, |stage| Ok((slo(stage)?.health == health).then_some(())))
    }
}

fn slo(stage: &Stage) -> Result<api::Slo, demo::Error> {
    parse(&stage.svcctl(&["slo", "-o", "json"])?, "the signals")
}
