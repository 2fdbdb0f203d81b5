//! What a disk may hold after a power loss: what was synced, and of the rest anything.

use super::Numbers;
use super::log::{Deed, File, Record};

/// A file, as far as it reached the disk.
#[derive(Clone, Debug, Default)]
struct Inode {
    synced: Vec<u8>,
    /// Since the last sync, in order.
    pending: Vec<Deed>,
    /// Its name is on the disk, too.
    named: bool,
}

/// A name in the folder: the file it leads to now, and the one it may lead to after a power loss.
#[derive(Clone, Debug, Default)]
struct Name {
    now: Option<Inode>,
    before: Option<Inode>,
}

/// A disk in the middle of a run.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    names: [(File, Name); 3],
    /// Files whose syncs do nothing, as if they had never been asked for.
    unsynced: &'static [File],
}

/// The files that are there after the power loss, and how what was not synced fared.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) files: Vec<(File, Vec<u8>)>,
    pub(super) fates: Vec<(File, Fate, usize)>,
}

/// What becomes of what a file was given and not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    Nothing,
    Everything,
    Prefix,
    OneDropped,
    /// Any subset: what came later may be there without what came before.
    Subset,
    /// A prefix, whose last write was cut at a sector or page.
    Torn,
    /// Of every write any of its sectors.
    Sectors,
}

impl Fate {
    pub(super) const ALL: [Self; 7] = [
        Self::Nothing,
        Self::Everything,
        Self::Prefix,
        Self::OneDropped,
        Self::Subset,
        Self::Torn,
        Self::Sectors,
    ];
}

const SECTOR: usize = 512;
const PAGE: usize = 4_096;

impl Disk {
    pub(super) fn new(unsynced: &'static [File]) -> Self {
        // The daemon makes the database file, empty, before SQLite opens it, and this is not recorded: the name of the
        // file is on the disk with the first sync of the folder.
        let made = Name { now: Some(Inode::default()), before: None };
        let names = [
            (File::Database, made),
            (File::Wal, Name::default()),
            (File::Journal, Name::default()),
        ];
        Self { names, unsynced }
    }

    /// Lets one more thing happen.
    pub(super) fn apply(&mut self, record: &Record) {
        if record.deed == Deed::Sync && self.unsynced.contains(&record.file) {
            return;
        }
        if record.file == File::Folder {
            return self.sync_folder();
        }
        let Some((_, name)) = self.names.iter_mut().find(|(file, _)| *file == record.file) else {
            // The shared memory of the log is made anew at every start.
            return;
        };
        match &record.deed {
            Deed::Sync => {
                let inode = name.now.get_or_insert_default();
                for deed in inode.pending.drain(..) {
                    happen(&mut inode.synced, &deed);
                }
            }
            Deed::Unlink => {
                let gone = name.now.take().filter(|inode| inode.named);
                name.before = gone.or(name.before.take());
            }
            deed => name.now.get_or_insert_default().pending.push(deed.clone()),
        }
    }

    fn sync_folder(&mut self) {
        for (_, name) in &mut self.names {
            name.before = None;
            if let Some(inode) = &mut name.now {
                inode.named = true;
            }
        }
    }

    /// Returns one of the images that a power loss may leave now.
    pub(super) fn lose(&self, numbers: &mut Numbers) -> Image {
        let mut image = Image { files: Vec::new(), fates: Vec::new() };
        for (file, name) in &self.names {
            let settled = name.now.as_ref().is_some_and(|inode| inode.named);
            let now = settled || numbers.flip();
            let Some(inode) = (if now { &name.now } else { &name.before }) else { continue };
            let fate = Fate::ALL[numbers.below(Fate::ALL.len())];
            let mut bytes = inode.synced.clone();
            for deed in fare(&inode.pending, fate, numbers) {
                happen(&mut bytes, &deed);
            }
            image.fates.push((*file, fate, inode.pending.len()));
            image.files.push((*file, bytes));
        }
        image
    }
}

fn happen(bytes: &mut Vec<u8>, deed: &Deed) {
    match deed {
        Deed::Write { offset, bytes: written } => {
            let end = offset + written.len();
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            bytes[*offset..end].copy_from_slice(written);
        }
        Deed::Truncate(length) => bytes.resize(*length, 0),
        Deed::Sync | Deed::Unlink => {}
    }
}

/// Returns what of `pending` reaches the disk.
fn fare(pending: &[Deed], fate: Fate, numbers: &mut Numbers) -> Vec<Deed> {
    match fate {
        Fate::Nothing => Vec::new(),
        Fate::Everything => pending.to_vec(),
        Fate::Prefix => pending[..numbers.below(pending.len() + 1)].to_vec(),
        Fate::OneDropped => {
            let mut kept = pending.to_vec();
            if !kept.is_empty() {
                kept.remove(numbers.below(kept.len()));
            }
            kept
        }
        Fate::Subset => pending.iter().filter(|_| numbers.flip()).cloned().collect(),
        Fate::Torn => {
            let mut kept = pending[..numbers.below(pending.len() + 1)].to_vec();
            if let Some(Deed::Write { bytes, .. }) = kept.last_mut() {
                let unit = if numbers.flip() { SECTOR } else { PAGE };
                bytes.truncate(unit * numbers.below(bytes.len().div_ceil(unit)));
            }
            kept
        }
        Fate::Sectors => pending.iter().flat_map(|deed| sectors(deed, numbers)).collect(),
    }
}

/// Returns any of the sectors of a write; anything else as a whole.
fn sectors(deed: &Deed, numbers: &mut Numbers) -> Vec<Deed> {
    let Deed::Write { offset, bytes } = deed else { return vec![deed.clone()] };
    // A sector begins at a multiple of its size on the disk, not in the write.
    let first = (SECTOR - offset % SECTOR).min(bytes.len());
    let (head, rest) = bytes.split_at(first);
    let mut at = *offset;
    let mut kept = Vec::new();
    for part in std::iter::once(head).chain(rest.chunks(SECTOR)) {
        if numbers.below(4) > 0 {
            kept.push(Deed::Write { offset: at, bytes: part.to_vec() });
        }
        at += part.len();
    }
    kept
}
