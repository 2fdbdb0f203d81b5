//! What outlives a page: the key of the device, the host's storage, and the open file with a count of the actions on
//! it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::demo::plugin::document::Document;
use crate::domain::id::{GrantId, InvocationId, RelaySessionId};
use crate::domain::relay::invocation;
use crate::relay::frame::{self, PublicJwk, Signature};
use crate::relay::proof::{DaemonKey, DeviceKeyError};
use crate::runtime::mutex::lock;

/// Most entries of a proof.
const ENTRIES_MAX: usize = 64;

/// One profile of a browser: the storage that all pages of the plugin share. Clones are the same device.
#[derive(Clone)]
pub struct BrowserProfile(Arc<Mutex<Storage>>);

struct Storage {
    /// A device's key is of the same kind as the daemon's.
    key: DaemonKey,
    daemon: Option<PublicJwk>,
    sessions: BTreeMap<String, RelaySessionId>,
    journal: BTreeMap<GrantId, (RelaySessionId, invocation::Entry)>,
}

impl BrowserProfile {
    /// Returns a device with a new key and an empty storage.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn new() -> Result<Self, DeviceKeyError> {
        let storage = Storage {
            key: new_key()?,
            daemon: None,
            sessions: BTreeMap::new(),
            journal: BTreeMap::new(),
        };
        Ok(Self(Arc::new(Mutex::new(storage))))
    }

    /// Returns the public half of its key.
    #[must_use]
    pub fn key(&self) -> PublicJwk {
        self.storage().key.public().clone()
    }

    /// Signs a text.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn sign(&self, text: &str) -> Result<Signature, DeviceKeyError> {
        self.storage().key.sign(text)
    }

    /// Returns the key of the daemon that it was paired with.
    #[must_use]
    pub fn daemon(&self) -> Option<PublicJwk> {
        self.storage().daemon.clone()
    }

    /// Notes the key of the daemon that it was paired with.
    pub fn pin(&self, daemon: PublicJwk) {
        self.storage().daemon = Some(daemon);
    }

    /// Returns the session of a file.
    #[must_use]
    pub fn session(&self, file: &str) -> Option<RelaySessionId> {
        self.storage().sessions.get(file).copied()
    }

    /// Notes the session of a file.
    pub fn remember(&self, file: &str, session: RelaySessionId) {
        self.storage().sessions.insert(file.to_owned(), session);
    }

    /// Forgets a session and its journal.
    pub fn forget(&self, session: RelaySessionId) {
        let mut storage = self.storage();
        storage.sessions.retain(|_, kept| *kept != session);
        storage.journal.retain(|_, (kept, _)| *kept != session);
    }

    /// Forgets everything, and makes another key.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn forget_all(&self) -> Result<(), DeviceKeyError> {
        // Made first: without random bytes the storage stays as it was.
        let key = new_key()?;
        let mut storage = self.storage();
        storage.key = key;
        storage.daemon = None;
        storage.sessions.clear();
        storage.journal.clear();
        Ok(())
    }

    /// Returns the journal of a session, the last 64 entries.
    #[must_use]
    pub fn journal(&self, session: Option<RelaySessionId>) -> Vec<frame::Entry> {
        let storage = self.storage();
        let of_session = storage.journal.iter().filter(|(_, (kept, _))| Some(*kept) == session);
        let entry = |(grant, (_, outcome)): (&GrantId, &(_, invocation::Entry))| frame::Entry {
            grant: *grant,
            outcome: *outcome,
        };
        let entries: Vec<frame::Entry> = of_session.map(entry).collect();
        // Grant ids rise with time (UUIDv7), so the last ones are the newest.
        entries.get(entries.len().saturating_sub(ENTRIES_MAX)..).unwrap_or_default().to_vec()
    }

    /// Says whether the journal has an entry of a grant.
    #[must_use]
    pub fn has_entry(&self, grant: GrantId) -> bool {
        self.storage().journal.contains_key(&grant)
    }

    /// Writes an entry of the journal.
    pub fn write(&self, grant: GrantId, session: RelaySessionId, outcome: invocation::Entry) {
        self.storage().journal.insert(grant, (session, outcome));
    }

    /// Removes an entry of the journal.
    pub fn settle(&self, grant: GrantId) {
        self.storage().journal.remove(&grant);
    }

    /// Loses the journal, as a cleared storage does.
    pub fn lose_journal(&self) {
        self.storage().journal.clear();
    }

    fn storage(&self) -> MutexGuard<'_, Storage> {
        lock(&self.0)
    }
}

fn new_key() -> Result<DaemonKey, DeviceKeyError> {
    DaemonKey::read(&DaemonKey::generate()?)
}

/// The design tool with an open file. Clones are the same one: two tabs show one file.
#[derive(Clone)]
pub struct Host(Arc<Mutex<Open>>);

/// An open file.
pub struct Open {
    /// What is in it.
    pub document: Document,
    /// The actions carried out, by grant: for which invocation, and how often.
    pub effects: BTreeMap<GrantId, (InvocationId, u32)>,
}

impl Host {
    /// Returns a design tool that shows a file.
    #[must_use]
    pub fn new(document: Document) -> Self {
        Self(Arc::new(Mutex::new(Open { document, effects: BTreeMap::new() })))
    }

    /// Returns the open file, locked.
    pub fn open(&self) -> MutexGuard<'_, Open> {
        lock(&self.0)
    }

    /// Returns how often a grant was carried out.
    #[must_use]
    pub fn times(&self, grant: GrantId) -> u32 {
        self.open().effects.get(&grant).map_or(0, |(_, times)| *times)
    }

    /// Returns how often an invocation was carried out, by any grant.
    #[must_use]
    pub fn times_of(&self, invocation: InvocationId) -> u32 {
        let open = self.open();
        open.effects.values().filter(|(of, _)| *of == invocation).map(|(_, times)| *times).sum()
    }
}
