//! Pauses of an installation that the forge asked for, as its gate reads and sets them.

use crate::domain::id::InstallationId;
use crate::domain::time::Timestamp;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::forge_limits;

impl Store {
    /// Returns until when the forge asked the installation to wait; `None` if it may be called now.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn paused_until(&self, installation: InstallationId) -> Result<Option<Timestamp>, Error> {
        // A reader has no instant of its own as a transaction of the writer has.
        let now = self.clock.now();
        self.read(|db| forge_limits::paused_until(db, installation, now))
    }

    /// Pauses an installation for every process, because the forge asked it to wait.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the pause is not on disk.
    pub fn pause(&self, installation: InstallationId, until: Timestamp) -> Result<(), Error> {
        self.write(move |tx| forge_limits::pause(tx, installation, until))
    }
}
