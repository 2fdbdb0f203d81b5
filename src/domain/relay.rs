//! The rules of the relay: an agent works on the design file that a person has open, with that person's
//! consent, one invocation at a time.
//!
//! A plugin in the design tool pairs its *device* with a person, and opens a *session* for its file. A caller
//! makes a *proposal* of one or more *invocations*; the person decides about it in the plugin. An approval mints
//! a *grant* for each invocation. A grant is claimed at most once, and only what claimed it may have an effect.
//! So every invocation that ended in another state than SUCCEEDED and UNKNOWN has changed nothing, and UNKNOWN
//! says that a person must look.
//!
//! Each machine is one function from a state and an event to an outcome; all combinations are listed in
//! `tests/data/outcomes/relay_*.txt`. The caller that carries an outcome out writes the new state only if the old one still
//! stands, together with the audit event, and sends frames after the commit.
//!
//! What else the rules guarantee: `docs/decisions/68-relay-rules.md`.

pub mod allowance;
pub mod device;
pub mod grant;
pub mod invocation;
pub mod pairing;
pub mod process;
pub mod proposal;
pub mod session;

use std::time::Duration;

use invocation::Withdrawal;

words! {
    /// What an action does to the file or takes out of it, the least first.
    ActionEffect {
        /// Structure and text leave, nothing else. Only this can be covered by an allowance.
        Read => "read",
        /// Rendered bytes leave.
        Export => "export",
        /// The file changes.
        Write => "write",
        /// Something in the file goes away.
        Destructive => "destructive",
    }
}

impl ActionEffect {
    /// Returns how long after its claim an invocation becomes UNKNOWN if nothing was heard of it.
    #[must_use]
    pub const fn deadline(self) -> Duration {
        match self {
            Self::Read => Duration::from_secs(15),
            Self::Write | Self::Destructive => Duration::from_secs(30),
            Self::Export => Duration::from_secs(60),
        }
    }

    /// Says whether the file is as before, whatever came of it.
    #[must_use]
    pub const fn leaves_the_file(self) -> bool {
        matches!(self, Self::Read | Self::Export)
    }
}

words! {
    /// The design tool that a plugin runs in.
    DesignTool {
        /// Penpot.
        Penpot => "penpot",
        /// Figma.
        Figma => "figma",
        /// A plugin of a test or of the demonstration, which has no tool.
        Test => "test",
    }
}

words! {
    /// What was decided about a proposal.
    CardDecision {
        /// It may be carried out, once.
        Approved => "approved",
        /// It may not.
        Denied => "denied",
    }
}

words! {
    /// Who decided about a proposal, or ended it.
    DecidedBy {
        /// The person, in the plugin.
        Person => "person",
        /// The plugin, by leave that the person gave before.
        Allowance => "allowance",
        /// The plugin: it cannot show what is proposed.
        Plugin => "plugin",
        /// An operator. Operators deny; they never approve.
        Operator => "operator",
        /// The caller who had proposed it.
        Caller => "caller",
    }
}

words! {
    /// Why an invocation ended as it did, or why nothing was done about it.
    RelayReason {
        /// No decision was made in time.
        ProposalExpired => "proposal_expired",
        /// The grant was not claimed in time.
        GrantExpired => "grant_expired",
        /// The socket closed between approval and claim.
        Disconnected => "disconnected",
        /// Another file was opened in the session.
        FileChanged => "file_changed",
        /// An earlier step of the proposal did not succeed.
        StepFailed => "step_failed",
        /// The session or the device was revoked.
        Revoked => "revoked",
        /// The person denied what they had approved, before it was claimed.
        WithdrawnByPerson => "withdrawn_by_person",
        /// The caller cancelled.
        CancelledByCaller => "cancelled_by_caller",
        /// An operator denied.
        DeniedByOperator => "denied_by_operator",
        /// Nothing was heard until the deadline.
        DeadlinePassed => "deadline_passed",
        /// The page had begun, and its journal does not say how it ended.
        Interrupted => "interrupted",
        /// Another page has returned; the one that was told to act may still do it.
        PageReplaced => "page_replaced",
        /// The page that was told to act never got to know of it.
        NotDelivered => "not_delivered",
        /// The value does not fit the action's schema.
        BadResult => "bad_result",
        /// The value is too large.
        ResultTooLarge => "result_too_large",
        /// The plugin knows no such node.
        NoSuchNode => "no_such_node",
        /// The page of the file that the action is about is not the active one.
        PageNotActive => "page_not_active",
        /// The plugin gave another reason, or none.
        PluginFailed => "plugin_failed",
        /// It is being carried out, which nothing takes back.
        TooLate => "too_late",
        /// The allowance that was decided by has run out.
        AllowanceEnded => "allowance_ended",
        /// Claim: it has not been approved.
        NotApproved => "not_approved",
        /// Claim: the grant is claimed, spent or dead.
        GrantGone => "grant_gone",
        /// Claim: the step before has not succeeded.
        NotItsTurn => "not_its_turn",
        /// Claim: the session has no socket, or its page does not answer.
        NotConnected => "not_connected",
        /// Claim: another socket has been accepted since.
        EpochChanged => "epoch_changed",
        /// Claim: another grant of the session is claimed.
        SessionBusy => "session_busy",
        /// Claim: another grant of the lane is claimed.
        LaneBusy => "lane_busy",
    }
}

impl RelayReason {
    /// Returns what a plugin is told of an invocation that ended for this reason before it began; `None` if the plugin
    /// knows of it, or its socket is closed.
    #[must_use]
    pub const fn withdrawal(self) -> Option<Withdrawal> {
        match self {
            Self::CancelledByCaller => Some(Withdrawal::Cancelled),
            Self::DeniedByOperator => Some(Withdrawal::DeniedByOperator),
            Self::ProposalExpired | Self::GrantExpired | Self::FileChanged | Self::StepFailed => {
                Some(Withdrawal::Expired)
            }
            _ => None,
        }
    }

    /// Returns the reason a plugin gave. Any word that is not the plugin's to say becomes
    /// [`RelayReason::PluginFailed`], so that no text of a page becomes a code.
    #[must_use]
    pub fn from_plugin(word: &str) -> Self {
        match Self::from_word(word) {
            // Only these two: with any other code a page could claim a reason that only the service can know.
            Some(reason @ (Self::NoSuchNode | Self::PageNotActive)) => reason,
            // The person stopped what the plugin had just been told to do.
            _ if word == "stopped" => Self::WithdrawnByPerson,
            _ => Self::PluginFailed,
        }
    }
}

words! {
    /// Events of the relay's audit log.
    RelayEventName {
        /// A person confirmed a pairing.
        DevicePaired => "relay.device_paired",
        /// A device was revoked.
        DeviceRevoked => "relay.device_revoked",
        /// A socket was accepted for a session.
        SessionOpened => "relay.session_opened",
        /// A session ended.
        SessionEnded => "relay.session_ended",
        /// An invocation waits for a decision; also again, after its card was lost with its page.
        Proposed => "relay.proposed",
        /// Its card stood on the screen.
        Shown => "relay.shown",
        /// It was approved.
        Approved => "relay.approved",
        /// The person denied it, or the plugin could not show it.
        Denied => "relay.denied",
        /// The caller, an operator, the person after approval, a failed step or a revocation ended it.
        Cancelled => "relay.cancelled",
        /// It was not decided, or not claimed, in time.
        Expired => "relay.expired",
        /// Its grant was claimed.
        Claimed => "relay.claimed",
        /// It is known how it ended, or that this is unknown.
        Settled => "relay.settled",
        /// It became known how an unknown one had ended.
        SettledLate => "relay.settled_late",
        /// A person gave leave to read.
        AllowanceGiven => "relay.allowance_given",
        /// That leave ended.
        AllowanceEnded => "relay.allowance_ended",
    }
}

words! {
    /// Why a socket is closed by a rule. What the transport closes for is not decided here.
    CloseCode {
        /// The peer broke the protocol: 4400.
        BadFrame => "bad_frame",
        /// Its device was revoked: 4401.
        Revoked => "revoked",
        /// There is no such session, or it has ended: 4404.
        NoSuchSession => "no_such_session",
        /// Another page of the device took the session over: 4409.
        TakenOver => "taken_over",
        /// The pairing is over without a device: 4410.
        PairingExpired => "pairing_expired",
    }
}

impl CloseCode {
    /// Returns the close code of the `WebSocket`.
    #[must_use]
    pub const fn code(self) -> u16 {
        match self {
            Self::BadFrame => 4400,
            Self::Revoked => 4401,
            Self::NoSuchSession => 4404,
            Self::TakenOver => 4409,
            Self::PairingExpired => 4410,
        }
    }
}
