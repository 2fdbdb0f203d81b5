//! Power that goes away at any instant of a run, and what may be on the disk then.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rustix::process::Signal;
use svc::simulator::{Call, Fault};

use super::check::{Told, check};
use super::disk::{Disk, Fate, Image};
use super::log::{Deed, File, Record};
use super::{Numbers, arm, log, say};
use crate::daemon::letters::{letters, replay};
use crate::daemon::process::{Daemon, delivery};
use crate::daemon::site::Site;
use crate::daemon::{INSTALLATION, commit, wait_for};
use crate::support::campaign::number_or;

const IMAGES: usize = 150;
const SEED: usize = 0x5EED_0007;
/// Of the images every so many-th is opened by the daemon, too: 22 of 150.
const STARTED: usize = 7;
/// Deliveries between two ends of the process.
const DELIVERIES: usize = 6;

/// A run, and how long its log was whenever something was acknowledged.
struct Run {
    records: Vec<Record>,
    deliveries: Vec<(u64, String)>,
    replays: Vec<(u64, String, String)>,
}

impl Run {
    fn record() -> Self {
        let mut site = Site::new();
        arm(&mut site);
        let path = site.path("power.log");
        site.set("POWER_LOG", path.to_str().unwrap());
        let mut run = Self { records: Vec::new(), deliveries: Vec::new(), replays: Vec::new() };
        // The first ends by itself and folds its log; the second finds none; the third finds one.
        for (life, ending) in [Signal::TERM, Signal::KILL, Signal::TERM].into_iter().enumerate() {
            let mut daemon = site.start();
            let began = logged(&site);
            for number in life * DELIVERIES..(life + 1) * DELIVERIES {
                run.deliver(&site, &daemon, number);
            }
            run.replay(&site, &daemon, 100 + life);
            wait_for("the dispatches", || {
                (site.forge.workflow_runs().len() == (life + 1) * (DELIVERIES + 1)).then_some(())
            });
            wait_for("a checkpoint beside the writer", || {
                let records = log::read(&path);
                let mut own = records.iter().filter(|record| record.end > began);
                own.any(|record| record.file == File::Database && record.deed == Deed::Sync)
                    .then_some(())
            });
            daemon.end(ending);
        }
        run.records = log::read(&path);
        run
    }

    fn deliver(&mut self, site: &Site, daemon: &Daemon, number: usize) {
        let push = site.webhooks.push_tag(&format!("v{number}"), &commit(number));
        let id = format!("push-{number}");
        assert_eq!(daemon.deliver(&id, &push).status, 202);
        self.deliveries.push((logged(site), id.clone()));
        if number % 2 == 1 {
            assert_eq!(daemon.deliver(&id, &push).status, 200, "a duplicate");
        }
    }

    /// Brings about a dead letter and replays it.
    fn replay(&mut self, site: &Site, daemon: &Daemon, number: usize) {
        wait_for("quiet", || {
            let runs = site.forge.workflow_runs();
            (runs.len() == number % 100 * (DELIVERIES + 1) + DELIVERIES).then_some(())
        });
        site.forge.plan(Call::Dispatch, Fault::Validation422);
        self.deliver(site, daemon, number);
        let letter = wait_for("a dead letter", || letters(daemon, INSTALLATION).pop());
        let key = format!("key-{number}");
        let answer =
            daemon.control.ask(&replay(INSTALLATION, &letter.item_type, &letter.item_id, &key));
        assert_eq!(answer.status, 200, "{answer:?}");
        self.replays.push((logged(site), key, answer.member("auditEventId")));
    }

    /// Returns what had been acknowledged once the first `cut` records were made.
    fn told(&self, cut: usize) -> Told {
        let length = cut.checked_sub(1).map_or(0, |last| self.records[last].end);
        let deliveries = self.deliveries.iter().filter(|(mark, _)| *mark <= length);
        let replays = self.replays.iter().filter(|(mark, ..)| *mark <= length);
        Told {
            deliveries: deliveries.map(|(_, id)| id.clone()).collect(),
            replays: replays.map(|(_, key, event)| (key.clone(), event.clone())).collect(),
        }
    }

    /// Returns where the power goes away, in order: at once after an acknowledgement, just before and
    /// just after a sync, while the log is folded or the file is made, and anywhere.
    fn cuts(&self, count: usize, numbers: &mut Numbers) -> Vec<usize> {
        let marks = self.deliveries.iter().map(|(mark, _)| mark);
        let marks = marks.chain(self.replays.iter().map(|(mark, ..)| mark));
        let told: Vec<usize> =
            marks.map(|mark| self.records.partition_point(|record| record.end <= *mark)).collect();
        let all = self.records.iter().enumerate();
        let syncs: Vec<usize> = all
            .filter(|(_, record)| record.deed == Deed::Sync && record.file != File::Shm)
            .map(|(place, _)| place)
            .collect();
        let all = self.records.iter().enumerate();
        let folds: Vec<usize> = all
            .filter(|(_, record)| !matches!(record.file, File::Wal | File::Shm))
            .map(|(place, _)| place)
            .collect();
        let mut cuts: Vec<usize> = (0..count)
            .map(|number| match number % 5 {
                0 => told[numbers.below(told.len())],
                1 => syncs[numbers.below(syncs.len())],
                2 => syncs[numbers.below(syncs.len())] + 1,
                3 => folds[numbers.below(folds.len())] + 1,
                _ => numbers.below(self.records.len() + 1),
            })
            .collect();
        cuts.sort_unstable();
        cuts
    }
}

/// Returns how long the log is.
fn logged(site: &Site) -> u64 {
    fs::metadata(site.path("power.log")).unwrap().len()
}

/// Puts an image where `path` is the database.
fn lay_out(image: &Image, path: &Path) {
    for (file, suffix) in [
        (File::Database, ""),
        (File::Wal, "-wal"),
        (File::Journal, "-journal"),
        (File::Shm, "-shm"),
    ] {
        let path = format!("{}{suffix}", path.display());
        match image.files.iter().find(|(known, _)| *known == file) {
            Some((_, bytes)) => fs::write(path, bytes).unwrap(),
            None => drop(fs::remove_file(path)),
        }
    }
}

/// What a campaign saw.
#[derive(Default)]
struct Seen {
    wrong: Vec<String>,
    fates: BTreeMap<(File, Fate), usize>,
    /// Images that something was acknowledged before.
    told: usize,
    /// Images that the daemon was started on.
    started: usize,
}

/// Starts the daemon on an image: it comes up, and knows what was acknowledged.
fn start_on(site: &Site, image: &Image, told: &Told) -> Result<(), String> {
    lay_out(image, &site.database());
    // An image may be older than the mark that there has been a database.
    drop(fs::remove_file(site.path("svc.db.in-use")));
    let mut daemon = site.try_start()?;
    if let Some(id) = told.deliveries.last() {
        let number = id.trim_start_matches("push-").parse().unwrap();
        let push = site.webhooks.push_tag(&format!("v{number}"), &commit(number));
        let answer =
            daemon.public.try_ask(&delivery(id, &push)).map_err(|error| error.to_string())?;
        if (answer.status, answer.member("outcome").as_str()) != (200, "duplicate") {
            return Err(format!("{id} again: {answer:?}"));
        }
    }
    check(&site.database(), told)?;
    if daemon.end(Signal::TERM).code() == Some(0) { Ok(()) } else { Err(daemon.log()) }
}

/// Cuts the power of a run again and again.
fn lose_power(run: &Run, images: usize, seed: usize, unsynced: &'static [File]) -> Seen {
    let mut numbers = Numbers::new(u64::try_from(seed).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("svc.db");
    let mut disk = Disk::new(unsynced);
    let mut happened = 0;
    let mut seen = Seen::default();
    let site = Site::new();
    for (place, cut) in run.cuts(images, &mut numbers).into_iter().enumerate() {
        run.records[happened..cut].iter().for_each(|record| disk.apply(record));
        happened = cut;
        let image = disk.lose(&mut numbers);
        lay_out(&image, &path);
        let told = run.told(cut);
        seen.told += usize::from(!told.deliveries.is_empty());
        if let Err(wrong) = check(&path, &told) {
            seen.wrong.push(format!("cut {cut}, {:?}: {wrong}", image.fates));
        } else if unsynced.is_empty() && place % STARTED == 0 {
            seen.started += 1;
            if let Err(wrong) = start_on(&site, &image, &told) {
                seen.wrong.push(format!("cut {cut}, {:?}, started: {wrong}", image.fates));
            }
        }
        for (file, fate, pending) in image.fates {
            *seen.fates.entry((file, fate)).or_default() += usize::from(pending > 0);
        }
    }
    seen
}

#[test]
fn what_was_acknowledged_survives_every_power_loss() {
    let run = Run::record();
    let images = number_or("SVC_POWER_IMAGES", IMAGES);
    let seed = number_or("SVC_POWER_SEED", SEED);
    let seen = lose_power(&run, images, seed, &[]);
    say(&format!(
        "{} records, {} syncs of the log; {images} images, {} after an acknowledgement, {} that \
         svcd was started on; {:?}",
        run.records.len(),
        syncs(&run, File::Wal),
        seen.told,
        seen.started,
        seen.fates
    ));
    assert!(seen.told > images / 2, "{} images prove something", seen.told);
    let open =
        |file| seen.fates.iter().filter(move |((known, _), count)| *known == file && **count > 0);
    assert!(open(File::Wal).count() == Fate::ALL.len(), "{:?}", seen.fates);
    assert!(open(File::Database).count() > 1, "{:?}", seen.fates);
    assert!(syncs(&run, File::Database) > 2, "the log was never folded");
    assert!(seen.wrong.is_empty(), "seed {seed}: {:#?}", seen.wrong);
    assert!(seen.started * STARTED >= images, "svcd was started on {}", seen.started);
}

/// What an image is judged by must see what `synchronous` of less than `FULL` would lose, or it would
/// prove nothing.
#[test]
fn the_same_look_sees_what_is_lost_without_syncs() {
    let run = Run::record();
    let all: &[File] = &[File::Database, File::Wal, File::Journal, File::Folder];
    for (setting, unsynced) in [("OFF", all), ("NORMAL", &[File::Wal])] {
        let seen = lose_power(&run, IMAGES, SEED, unsynced);
        let lost = seen.wrong.iter().filter(|wrong| wrong.contains("was acknowledged")).count();
        say(&format!(
            "synchronous = {setting}: {} of {IMAGES} images are wrong, {lost} lost a delivery",
            seen.wrong.len()
        ));
        // What the checkpoints beside the writer have copied and synced is not lost.
        assert!(seen.wrong.len() > IMAGES / 5, "{setting}: {:#?}", seen.wrong);
    }
    // A log that is folded into a file that is not synced.
    let seen = lose_power(&run, IMAGES, SEED, &[File::Database]);
    say(&format!("unsynced folding: {} of {IMAGES} images are wrong", seen.wrong.len()));
    assert!(seen.wrong.len() > IMAGES / 10, "{:#?}", seen.wrong);
}

fn syncs(run: &Run, file: File) -> usize {
    let wanted = |record: &&Record| record.file == file && record.deed == Deed::Sync;
    run.records.iter().filter(wanted).count()
}
