//! A forge to play with: a small stateful double of the API that [`crate::forge`] speaks, on a
//! socket of this machine. `svcctl demo` and the tests use it; the daemon never does.
//!
//! It holds the caller to the contract (credentials, scope, permission, headers), keeps what calls
//! brought about, and misbehaves on order: each [`Fault`] is for one call, in the order planned.
//! The ledger counts effects, not answers, because that is where a doubled request shows.

mod app;
mod checks;
mod credentials;
mod deliveries;
mod issuer;
mod key;
mod message;
mod runs;
mod server;
mod shape;
mod state;
mod webhook;

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::domain::id::{AppId, RepositoryId};
use crate::domain::repository::{RepositoryName, RepositoryRef};
use crate::domain::time::Timestamp;
use crate::runtime::mutex::lock;
use crate::runtime::notify::Notify;
use state::State;

/// The account that owns every simulated repository.
pub const OWNER: i64 = 4712;

pub use app::{SimulatedApp, SimulatedInstallation, SimulatedWebhook};
pub use deliveries::DeliveryAttempt;
pub use issuer::{Issuer, RunClaims};
pub use runs::RunState;
pub use webhook::{Webhook, Webhooks, sign};

/// Number of the simulated app.
const APP: i64 = 424_242;
/// Where its API begins, so that no caller relies on the root.
const BASE_PATH: &str = "/api/v3";

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// Make an installation token.
    Mint,
    /// Dispatch a workflow.
    Dispatch,
    WorkflowRunRead,
    /// Read one try of a workflow run.
    WorkflowRunTryRead,
    /// Look for runs of a workflow.
    WorkflowRunFind,
    /// Look for check runs of a commit.
    CheckRunFind,
    CheckRunRead,
    CheckRunCreate,
    CheckRunUpdate,
    /// Look for deliveries.
    DeliveryFind,
    /// Ask for a delivery to be sent again.
    DeliveryRepeat,
    AppRead,
    /// Read where the app's webhook goes.
    WebhookRead,
    /// Look for installations of the app.
    InstallationFind,
    /// Give a token back.
    TokenRevoke,
}

impl Call {
    /// Says whether it takes the app's own credential.
    const fn is_of_app(self) -> bool {
        matches!(
            self,
            Self::Mint
                | Self::DeliveryFind
                | Self::DeliveryRepeat
                | Self::AppRead
                | Self::WebhookRead
                | Self::InstallationFind
        )
    }
}

/// What goes wrong with one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// This status instead, without effect.
    Status(u16),
    /// A refusal of the content, without effect.
    Validation422,
    /// The connection ends without an answer, without effect.
    CutBeforeEffect,
    /// The connection ends without an answer, after the effect.
    CutAfterEffect,
    /// Effect and answer come this late, whether or not the caller still waits.
    Slow(Duration),
    /// The effect happens; the answer is not JSON.
    Garbage,
    /// A 403 that asks to wait, without effect.
    RateLimited {
        /// Seconds to wait.
        retry_after: u64,
    },
}

/// Something that changed at the forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedEffect {
    /// The call that did it.
    pub call: Call,
    pub method: String,
    /// Its path, without the base path.
    pub path: String,
    /// Which effect of which attempt, as [`crate::domain::outbox::Effect::key`] writes it.
    pub key: String,
}

/// A workflow run that was dispatched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowRun {
    /// Its number.
    pub id: i64,
    /// The repository it runs in.
    pub repository: RepositoryId,
    /// File name of the workflow.
    pub workflow: String,
    /// What it runs on: the name of a tag, or the whole name of a branch.
    pub git_ref: String,
    /// Input `release_run_id`.
    pub release_run: String,
    /// The commit it runs on.
    pub head_sha: String,
    /// Input `attempt_id`.
    pub attempt: String,
    /// Input `nonce`.
    pub nonce: String,
    /// When it was dispatched.
    pub created_at: Timestamp,
    /// How each try stands, the newest last; never empty.
    pub tries: Vec<RunState>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRun {
    /// Its number.
    pub id: i64,
    /// The repository it stands in.
    pub repository: RepositoryId,
    /// Name shown beside the commit.
    pub name: String,
    /// The commit.
    pub head_sha: String,
    /// The id its maker gave it.
    pub external_id: String,
    /// Its status, in the forge's words.
    pub status: String,
    /// How it ended, in the forge's words; nothing while it is open.
    pub conclusion: Option<String>,
    /// When it ended, as its maker said.
    pub completed_at: Option<String>,
    /// Title of what it shows.
    pub title: Option<String>,
    /// Summary of what it shows.
    pub summary: Option<String>,
}

/// Calls that wait at the simulator, until this is dropped.
#[must_use = "calls are released when it is dropped"]
pub struct Hold(Notify);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// A running simulator. Stops when dropped.
pub struct Simulator {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    stop: Notify,
    thread: Option<JoinHandle<()>>,
}

impl Simulator {
    /// Starts an empty forge on a free port of this machine.
    ///
    /// # Errors
    /// When the system gives no port or no thread.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (state, stop) = (Arc::new(Mutex::new(State::new(base_url(address)))), Notify::new());
        let (shared, stopped) = (Arc::clone(&state), stop.clone());
        let thread = crate::runtime::thread::spawn("simulator", move || {
            server::serve(&listener, &shared, &stopped);
        })?;
        Ok(Self { address, state, stop, thread: Some(thread) })
    }

    /// Returns where its API begins.
    #[must_use]
    pub fn base_url(&self) -> String {
        base_url(self.address)
    }

    /// Returns the app it knows.
    #[must_use]
    pub fn app_id(&self) -> AppId {
        AppId::try_from(APP).expect("the constant is positive")
    }

    /// Returns the app's private key: PEM, PKCS#1, known to everybody.
    #[must_use]
    pub const fn private_key_pem(&self) -> &'static str {
        key::THROWAWAY_PRIVATE_KEY
    }

    /// Adds a repository. Every installation reaches it.
    pub fn add_repository(&self, repository: &RepositoryRef) {
        self.state().add_repository(repository.id, repository.full_name.as_str());
    }

    /// Renames a repository; the old name redirects.
    pub fn rename_repository(&self, id: RepositoryId, name: &RepositoryName) {
        self.state().add_repository(id, name.as_str());
    }

    /// Says which commit a tag names. A dispatch on another tag runs on the commit of its attempt's
    /// check run.
    pub fn add_tag(&self, repository: RepositoryId, tag: &str, commit: &str) {
        self.state().refs.insert((repository, tag.to_owned()), commit.to_owned());
    }

    /// Adds a branch that stands on a commit.
    pub fn add_branch(&self, repository: RepositoryId, name: &str, commit: &str) {
        let branch = (repository, format!("{}{name}", runs::BRANCHES));
        self.state().refs.insert(branch, commit.to_owned());
    }

    /// Adds a workflow run, as if it had been dispatched.
    pub fn add_run(&self, run: WorkflowRun) {
        self.state().workflow_runs.push(run);
    }

    /// Moves the newest try of a workflow run.
    pub fn set_run(&self, run: i64, state: RunState) {
        if let Some(newest) = self.state().run_mut(run).and_then(|run| run.tries.last_mut()) {
            *newest = state;
        }
    }

    /// Runs a workflow run again, as a person at the forge can: one more try, queued.
    pub fn run_again(&self, run: i64) {
        if let Some(run) = self.state().run_mut(run) {
            run.tries.push(RunState::Queued);
        }
    }

    /// Changes a check run behind its maker's back.
    pub fn change_check_run(&self, check_run: i64, change: impl FnOnce(&mut CheckRun)) {
        let mut state = self.state();
        if let Some(found) = state.check_runs.iter_mut().find(|run| run.id == check_run) {
            change(found);
        }
    }

    /// Removes a check run.
    pub fn remove_check_run(&self, check_run: i64) {
        self.state().check_runs.retain(|run| run.id != check_run);
    }

    /// Adds a delivery that failed.
    pub fn fail_delivery(&self, guid: &str, event: &str, delivered_at: Timestamp) {
        self.deliver(guid, event, delivered_at, 503);
    }

    /// Says how the receiver answered a webhook; nothing is sent. Later ones are newer.
    pub fn deliver(&self, guid: &str, event: &str, delivered_at: Timestamp, status: u16) {
        self.state().deliver(guid, event, delivered_at, status);
    }

    /// Changes the settings of the app.
    pub fn change_app(&self, change: impl FnOnce(&mut SimulatedApp)) {
        change(&mut self.state().app);
    }

    /// Returns how many tokens can be used.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.state().tokens.len()
    }

    /// Plans a fault for the next call of a kind that has none planned yet.
    pub fn plan(&self, call: Call, fault: Fault) {
        self.state().plan(call, None, fault);
    }

    /// Plans a fault for the dispatch of a tag, whatever other dispatches come before it.
    pub fn plan_dispatch(&self, tag: &str, fault: Fault) {
        self.state().plan(Call::Dispatch, Some(tag.to_owned()), fault);
    }

    /// Holds calls of a kind until what this returns is dropped. Other calls go on; a fault that is planned for one that was
    /// held meets it afterwards.
    pub fn hold(&self, call: Call) -> Hold {
        let released = Notify::new();
        self.state().holds.push((call, released.clone()));
        Hold(released)
    }

    /// Returns how many requests of a kind came in, whatever became of them.
    #[must_use]
    pub fn requests(&self, call: Call) -> usize {
        self.state().requests(call)
    }

    /// Returns every effect, in order.
    #[must_use]
    pub fn ledger(&self) -> Vec<RecordedEffect> {
        self.state().ledger.clone()
    }

    /// Returns every workflow run, in order.
    #[must_use]
    pub fn workflow_runs(&self) -> Vec<WorkflowRun> {
        self.state().workflow_runs.clone()
    }

    /// Returns every check run, in order.
    #[must_use]
    pub fn check_runs(&self) -> Vec<CheckRun> {
        self.state().check_runs.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.stop.stop();
        // Wakes the accept loop, which then sees the end.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn base_url(address: SocketAddr) -> String {
    format!("http://{address}{BASE_PATH}")
}
