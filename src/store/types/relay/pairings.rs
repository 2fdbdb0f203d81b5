//! What the verbs of pairings take and return.

use crate::domain::digest::Digest;
use crate::domain::id::{DeviceId, PageInstanceId, PairingId, RelayProcessId, RelaySessionId};
use crate::domain::relay::{CloseCode, DesignTool};
use crate::domain::time::Timestamp;
use crate::store::types::relay::{KeyPoint, OpenSession, Proof, SessionSocket};

/// A pairing that begins.
#[derive(Clone, Debug)]
pub struct NewPairing {
    pub id: PairingId,
    /// The key that has proved itself.
    pub key: KeyPoint,
    /// The tool it runs in.
    pub tool: DesignTool,
    /// How it begins.
    pub begins: Begins,
    /// Its end, unless it is claimed or confirmed.
    pub expires_at: Timestamp,
}

/// So many pairings are open that no other one can begin now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// How a pairing begins.
#[derive(Clone, Debug)]
pub enum Begins {
    /// With a code, of which the digest is kept.
    Offered(Digest),
    /// Claimed by the subject of its known device, for a file that has no session yet, or for the session that the
    /// socket holds already. A socket that was replaced since gets nothing.
    Claimed(DeviceId, Option<SessionSocket>),
}

/// A pairing whose code was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedPairing {
    pub id: PairingId,
    /// Who typed it.
    pub subject: String,
    /// Through which client; empty where a known device opens another file, for which no code is typed.
    pub client: String,
    /// The tool its plugin runs in.
    pub tool: DesignTool,
    /// Until when the person can confirm.
    pub expires_at: Timestamp,
}

/// A person's answer to a claimed pairing, whose signature holds.
#[derive(Clone, Debug)]
pub struct PairingAnswer {
    pub id: PairingId,
    /// Whether the subject may work on the open file.
    pub accept: bool,
    /// The device that comes into being, if the key is that of none.
    pub device: DeviceId,
    /// The session that comes into being, if the pairing is for none that there is.
    pub session: RelaySessionId,
    /// Of subject, tool and file; of `session` where the tool does not say which file is open.
    pub lane: Digest,
    pub page: PageInstanceId,
    /// The process that has its socket.
    pub process: RelayProcessId,
    /// That the device with the key gave this answer.
    pub proof: Proof,
}

/// What comes of a person's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Paired {
    /// The session is connected.
    Ready(OpenSession),
    /// The socket is closed.
    Close(CloseCode),
}
