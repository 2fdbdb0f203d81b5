//! A daemon with its relay on, agents who call it, and pages of the plugin.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use svc::demo::plugin::Plugin;
use svc::demo::plugin::device::{BrowserProfile, Host};
use svc::demo::plugin::document::Document;
use svc::demo::plugin::event::Event;
use svc::demo::plugin::socket::{OpenError, Opening};
use svc::domain::id::{GrantId, InvocationId, ProposalId, RelaySessionId};
use svc::domain::relay::CardDecision;
use svc::relay::frame::Outcome;
use svc::runtime::thread;

use crate::daemon::ask::{Answer, Ask, Endpoint};
use crate::daemon::{PATIENCE, wait_for, wait_within};
use crate::mcp::service::{Issuer, Service};
use crate::mcp::{call, initialize};

/// What the design tool calls the open file.
pub(super) const FILE: &str = "a file";
const SCOPES: &str = "mcp:read mcp:invoke mcp:pair";

/// A daemon, and who can be whom.
pub(super) struct World {
    pub(super) service: Service,
    issuer: Option<Issuer>,
}

/// A client of `/mcp` with a session of the legacy era.
pub(super) struct Agent {
    endpoint: Endpoint,
    /// Everything but the message.
    head: Ask,
    last: AtomicU64,
}

impl World {
    /// Starts a daemon whose callers are all one person. No call waits, unless a setting says otherwise.
    pub(super) fn local(settings: &[(&str, &str)]) -> Self {
        let own =
            [("SVC_RELAY", "true"), ("SVC_RELAY_LOCAL", "true"), ("SVC_RELAY_WAIT_SECONDS", "0")];
        Self { service: Service::start(&[&own, settings].concat()), issuer: None }
    }

    /// Starts a daemon whose callers are known by tokens.
    pub(super) fn with_tokens(settings: &[(&str, &str)]) -> Self {
        let own = [("SVC_RELAY", "true"), ("SVC_RELAY_WAIT_SECONDS", "0")];
        let (service, issuer) = Service::with_tokens(&[&own, settings].concat());
        Self { service, issuer: Some(issuer) }
    }

    /// Ends the daemon and starts it again on the same store, at another address.
    pub(super) fn restart(self) -> Self {
        Self { service: self.service.restart(&[]), issuer: self.issuer }
    }

    /// Starts another daemon on the same store.
    pub(super) fn beside(&self) -> Self {
        Self { service: self.service.beside(), issuer: None }
    }

    /// Returns how the daemon's own page opens its socket.
    pub(super) fn opening(&self) -> Opening {
        let local = Opening::local(self.service.address());
        match self.issuer {
            None => local,
            Some(_) => Opening {
                host: "svc.example".to_owned(),
                origin: Some("https://svc.example".to_owned()),
                ..local
            },
        }
    }

    /// Returns a page in a new profile, with a file of its own.
    pub(super) fn page(&self) -> Plugin {
        let host = Host::new(Document::sample());
        Plugin::new(self.opening(), BrowserProfile::new().unwrap(), host, FILE)
    }

    /// Returns another page of the same profile, with the same file open.
    pub(super) fn other_page(&self, plugin: &Plugin) -> Plugin {
        Plugin::new(self.opening(), plugin.device().clone(), plugin.host().clone(), FILE)
    }

    /// Returns an agent of the one person of this machine.
    pub(super) fn agent(&self) -> Agent {
        assert!(self.issuer.is_none());
        self.begin(None)
    }

    /// Returns an agent of a person.
    pub(super) fn agent_of(&self, subject: &str, client: &str) -> Agent {
        let issuer = self.issuer.as_ref().unwrap();
        let claims = [("sub", subject), ("client_id", client), ("scope", SCOPES)];
        self.begin(Some(issuer.bearer_with(&claims)))
    }

    fn begin(&self, bearer: Option<String>) -> Agent {
        let with_token = |ask: Ask| match &bearer {
            Some(bearer) => ask.header("Authorization", bearer),
            None => ask,
        };
        let begin = self.service.post(&initialize("2025-11-25"));
        let session = self.service.begin_as(with_token(begin));
        let head = self.service.to_mcp("POST").header("Content-Type", "application/json");
        let head = with_token(head.header("Mcp-Session-Id", session));
        Agent { endpoint: self.service.daemon.public.clone(), head, last: AtomicU64::new(0) }
    }

    /// Returns a page that is paired with an agent's account and ready.
    pub(super) fn paired(&self, agent: &Agent) -> Plugin {
        let mut plugin = self.page();
        plugin.connect().unwrap();
        self.pair(agent, &mut plugin);
        plugin
    }

    /// Pairs a page that has greeted.
    pub(super) fn pair(&self, agent: &Agent, plugin: &mut Plugin) -> RelaySessionId {
        let code = code(plugin);
        let claimed = agent.good("pair_design_session", &json!({ "code": code }));
        assert_eq!(claimed["state"], "claimed", "{claimed}");
        confirm(plugin)
    }

    /// Returns the sessions that an agent sees.
    pub(super) fn states(&self, agent: &Agent) -> Vec<(String, String)> {
        let listed = agent.good("list_design_sessions", &json!({}));
        let sessions = listed["sessions"].as_array().unwrap().iter();
        let text = |session: &Value, name: &str| session[name].as_str().unwrap().to_owned();
        sessions.map(|session| (text(session, "session"), text(session, "state"))).collect()
    }

    /// Waits until the only session of an agent is in a state.
    pub(super) fn await_state(&self, agent: &Agent, state: &str) {
        wait_for(state, || match self.states(agent).as_slice() {
            [(_, found)] => (found == state).then_some(()),
            other => panic!("{other:?}"),
        });
    }

    /// Waits until so many sockets are open.
    pub(super) fn await_connections(&self, count: usize) {
        wait_for("sockets", || {
            (self.service.gauge("svc_relay_connections") == count).then_some(())
        });
    }

    /// Returns the header of a token with these claims.
    pub(super) fn bearer(&self, claims: &[(&str, &str)]) -> String {
        self.issuer.as_ref().unwrap().bearer_with(claims)
    }

    /// Says whether the daemon's log, which everything is written to, has a text.
    pub(super) fn has_logged(&self, text: &str) -> bool {
        self.service.daemon.log().contains(text)
    }
}

impl Agent {
    /// Returns the request that calls a tool.
    pub(super) fn ask(&self, tool: &str, arguments: &Value) -> Ask {
        let id = self.last.fetch_add(1, Ordering::Relaxed);
        self.head.clone().body(call(id, tool, arguments).to_string().as_bytes())
    }

    /// Calls a tool; returns its whole result.
    pub(super) fn call(&self, tool: &str, arguments: &Value) -> Value {
        result(&self.endpoint.ask(&self.ask(tool, arguments)))
    }

    /// Calls a tool that succeeds; returns its structured content.
    pub(super) fn good(&self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that is an error; returns its structured content.
    pub(super) fn bad(&self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool on a thread of its own.
    pub(super) fn call_aside(&self, tool: &str, arguments: &Value) -> JoinHandle<Value> {
        let (endpoint, ask) = (self.endpoint.clone(), self.ask(tool, arguments));
        thread::spawn("test-agent", move || result(&endpoint.ask(&ask))).unwrap()
    }

    /// Proposes something that waits for a person; returns the invocation.
    pub(super) fn propose(&self, tool: &str, arguments: &Value) -> InvocationId {
        let pending = self.bad(tool, arguments);
        assert_eq!(pending["status"], "approval_pending", "{pending}");
        pending["invocation"].as_str().unwrap().parse().unwrap()
    }

    /// Proposes to change the title.
    pub(super) fn propose_title(&self, text: &str) -> InvocationId {
        self.propose("set_text", &json!({ "node": Document::TITLE, "text": text }))
    }

    /// Returns how an invocation stands.
    pub(super) fn stands(&self, invocation: InvocationId) -> Value {
        let arguments = json!({ "invocation": invocation.to_string() });
        self.call("get_invocation", &arguments)["structuredContent"].clone()
    }

    /// Waits until an invocation is in a state; returns how it stands.
    pub(super) fn await_state(&self, invocation: InvocationId, state: &str) -> Value {
        self.await_state_within(PATIENCE, invocation, state)
    }

    /// The same for what takes longer by itself.
    pub(super) fn await_state_within(
        &self,
        patience: Duration,
        invocation: InvocationId,
        state: &str,
    ) -> Value {
        wait_within(patience, state, || {
            let now = self.stands(invocation);
            assert!(now["state"].is_string(), "{now}");
            let is_other_end = now["status"].is_null() && now["state"] != "unknown";
            assert!(now["state"] == state || !is_other_end, "{state}: {now}");
            (now["state"] == state).then_some(now)
        })
    }
}

fn result(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer:?} {}", answer.text());
    let body = answer.json();
    assert!(body["result"].is_object(), "{body}");
    body["result"].clone()
}

/// Waits for an event of a page.
pub(super) fn event<T>(
    plugin: &mut Plugin,
    what: &str,
    mut wanted: impl FnMut(&Event) -> Option<T>,
) -> T {
    let mut seen = Vec::new();
    let found = plugin.until(PATIENCE, |_, event| {
        seen.push(event.clone());
        wanted(event)
    });
    found.unwrap_or_else(|| panic!("waited in vain for {what}: {seen:?}"))
}

pub(super) fn code(plugin: &mut Plugin) -> String {
    wait_for("a code", || {
        let greeted = event(plugin, "a code", |event| match event {
            Event::Code(code) => Some(Some(code.clone())),
            Event::Closed(Some(4408)) => Some(None),
            _ => None,
        });
        if greeted.is_none() {
            // This thread was too slow to greet in time, so it connects again as a person's plugin does.
            plugin.connect().unwrap();
        }
        greeted
    })
}

/// Agrees to who asks to work on the file, and waits until the session works.
pub(super) fn confirm(plugin: &mut Plugin) -> RelaySessionId {
    event(plugin, "the question", |event| matches!(event, Event::Claimed { .. }).then_some(()));
    plugin.confirm(true);
    ready(plugin).0
}

/// Waits until the session works; returns it with its epoch.
pub(super) fn ready(plugin: &mut Plugin) -> (RelaySessionId, u64) {
    event(plugin, "ready", |event| match event {
        Event::Ready { session, epoch } => Some((*session, *epoch)),
        _ => None,
    })
}

/// Returns the oldest card that waits for a decision; waits until there is one.
pub(super) fn card(plugin: &mut Plugin) -> ProposalId {
    cards(plugin, 1)[0]
}

/// Returns the cards that wait for a decision, the oldest first; waits until there are so many.
pub(super) fn cards(plugin: &mut Plugin, count: usize) -> Vec<ProposalId> {
    while plugin.undecided().len() < count {
        event(plugin, "a card", |event| matches!(event, Event::Card(_)).then_some(()));
    }
    plugin.undecided()
}

/// Waits for the end of a step.
pub(super) fn ended(plugin: &mut Plugin) -> (GrantId, InvocationId, Outcome) {
    event(plugin, "the end of a step", |event| match event {
        Event::Ended(grant, invocation, outcome) => Some((*grant, *invocation, *outcome)),
        _ => None,
    })
}

pub(super) fn settled(plugin: &mut Plugin) -> GrantId {
    event(plugin, "settled", |event| match event {
        Event::Settled(grant) => Some(*grant),
        _ => None,
    })
}

/// Checks that nothing comes to a page but pings.
pub(super) fn assert_quiet(plugin: &mut Plugin) {
    let heard = plugin.until(Duration::from_secs(1), |_, event| match event {
        Event::Ping(_) | Event::Nothing => None,
        other => Some(other.clone()),
    });
    assert_eq!(heard, None);
}

/// Waits for the end of the socket; returns the words of the problems before it, and the code.
pub(super) fn closed(plugin: &mut Plugin) -> (Vec<String>, Option<u16>) {
    let mut problems = Vec::new();
    let code = event(plugin, "the end of the socket", |event| match event {
        Event::Problem(word, _) => {
            problems.push(word.clone());
            None
        }
        Event::Closed(code) => Some(*code),
        _ => None,
    });
    (problems, code)
}

/// Approves the next card, and waits until the daemon knows how its one step ended.
pub(super) fn approve(plugin: &mut Plugin) -> GrantId {
    let proposal = card(plugin);
    plugin.decide(proposal, CardDecision::Approved);
    let (grant, _, outcome) = ended(plugin);
    assert_eq!(outcome, Outcome::Succeeded);
    assert_eq!(settled(plugin), grant);
    grant
}

/// Returns what the title reads.
pub(super) fn title(plugin: &Plugin) -> String {
    let open = plugin.host().open();
    open.document.node(Document::TITLE).unwrap().text.clone().unwrap()
}

/// Returns the status with which a socket is refused.
pub(super) fn refused(plugin: &mut Plugin) -> u16 {
    match plugin.connect() {
        Err(svc::demo::plugin::Error::Open(OpenError::Refused(status))) => status,
        Err(error) => panic!("{error}"),
        Ok(()) => panic!("a socket opened"),
    }
}
