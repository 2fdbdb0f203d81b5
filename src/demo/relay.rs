//! The story of the relay: an agent changes an open design file, with the consent of the person who has it open.

mod agent;

use std::fmt::Debug;

use serde_json::{Value, json};

use crate::demo::plugin::Plugin;
use crate::demo::plugin::card::Card;
use crate::demo::plugin::device::{BrowserProfile, Host};
use crate::demo::plugin::document::Document;
use crate::demo::plugin::event::Event;
use crate::demo::plugin::running::Running;
use crate::demo::plugin::socket::Opening;
use crate::demo::stage::{PATIENCE, Stage, unexpected};
use crate::demo::{self, Ask, Print};
use crate::domain::id::{GrantId, InvocationId};
use crate::domain::relay::CardDecision;
use crate::relay::digest;
use crate::relay::frame::{self, FromDaemon};
use agent::Agent;

/// A relay for the people of this machine, who count as one. A call is held for less time than a person may need.
pub(super) const SETTINGS: [(&str, &str); 4] = [
    ("SVC_MCP", "true"),
    ("SVC_RELAY", "true"),
    ("SVC_RELAY_LOCAL", "true"),
    ("SVC_RELAY_WAIT_SECONDS", "5"),
];
/// The open file.
const FILE: &str = "Login page";
/// What the agent proposes.
const ACTION: &str = "set_text";
const OLD: &str = "Log in";
const NEW: &str = "Sign in";

/// Tells the story.
pub(super) fn tell(stage: &Stage, print: Print<'_>, ask: Ask<'_>) -> Result<(), demo::Error> {
    let host = Host::new(Document::sample());
    let opening = Opening::local(stage.public()?);
    let mut plugin =
        Plugin::new(opening, BrowserProfile::new().map_err(plugin_error)?, host.clone(), FILE);
    plugin.connect()?;
    let page = Running::start(plugin, |_, _| {});
    let page = page.map_err(|error| demo::Error::System("start the plugin", error))?;
    let mut teller = Teller { stage, print, ask, page, host };
    teller.say("svcd is running with its relay on. A person has a file open in a design tool, with the plugin.")?;
    let mut agent = Agent::begin(stage.public()?)?;
    teller.pair(&mut agent)?;
    let (invocation, proposal) = teller.change(&mut agent)?;
    teller.repeat(&mut agent, invocation, proposal)?;
    teller.undo()?;
    teller.audit()?;
    teller.say("Done: the change was shown, approved, carried out once, undone, and recorded.")
}

fn plugin_error(error: crate::relay::proof::DeviceKeyError) -> demo::Error {
    demo::Error::Plugin(error.into())
}

struct Teller<'a> {
    stage: &'a Stage,
    print: Print<'a>,
    ask: Ask<'a>,
    page: Running,
    host: Host,
}

/// What was carried out: the grant, and what its card had approved.
type Approved = (GrantId, frame::Execute);

impl Teller<'_> {
    fn pair(&mut self, agent: &mut Agent) -> Result<(), demo::Error> {
        self.say(
            "The plugin shows a code, which the person gives to their agent. The agent enters it:",
        )?;
        let code = self.wait("a code", |event| match event {
            Event::Code(code) => Some(code.clone()),
            _ => None,
        })?;
        self.show("plugin", &format!("code {code}"))?;
        let claimed = self.call(agent, "pair_design_session", &json!({ "code": code }))?;
        self.expect("the state of the pairing", &json!("claimed"), member(&claimed, "state"))?;
        let (account, client) = self.wait("the question who may work", |event| match event {
            Event::Claimed { account, client } => Some((account.clone(), client.clone())),
            _ => None,
        })?;
        self.say("Knowing the code is not enough: the plugin asks the person.")?;
        self.show("plugin", &format!("Let {account}, through {client}, work on \"{FILE}\"?"))?;
        if !self.agreed("let it work on this file")? {
            return Err(demo::Error::Declined);
        }
        self.page.order(|plugin| plugin.confirm(true));
        self.wait("a session", |event| matches!(event, Event::Ready { .. }).then_some(()))?;
        self.show("plugin", "ready; nothing is done without your approval")
    }

    fn change(&mut self, agent: &mut Agent) -> Result<(InvocationId, Approved), demo::Error> {
        self.say(
            "The agent wants to change a text. Nothing happens yet: the plugin shows what would change.",
        )?;
        let arguments = json!({ "node": Document::TITLE, "text": NEW });
        self.show("agent", &format!("{ACTION} {arguments}"))?;
        // On a thread of its own, because the call waits for the decision that is made below.
        let calling = agent.call_aside(ACTION, &arguments)?;
        let proposal = self.wait("a card", |event| match event {
            Event::Card(proposal) => Some(*proposal),
            _ => None,
        })?;
        let card = self.page.ask(move |plugin| plugin.card(proposal).cloned()).flatten();
        let card = card.ok_or(demo::Error::Waited("the card"))?;
        self.draw(&card)?;
        self.expect_title(OLD)?;
        if !self.agreed("approve")? {
            self.page.order(move |plugin| plugin.decide(proposal, CardDecision::Denied));
            // The agent is told; its answer no longer matters.
            drop(calling.join());
            return Err(demo::Error::Declined);
        }
        self.page.order(move |plugin| plugin.decide(proposal, CardDecision::Approved));
        let (grant, invocation) = self.wait("the end of the action", |event| match event {
            Event::Ended(grant, invocation, frame::Outcome::Succeeded) => {
                Some((*grant, *invocation))
            }
            _ => None,
        })?;
        let first = calling.join().map_err(|_| demo::Error::Waited("the agent"))??;
        let result = self.final_result(agent, first)?;
        self.show(
            "agent",
            &format!("got {} {}", text(&result, "state"), member(&result, "value")),
        )?;
        self.expect("the state", &json!("succeeded"), member(&result, "state"))?;
        let value = json!({ "node": Document::TITLE, "old": OLD });
        self.expect("the value", &value, member(&result, "value"))?;
        self.expect_title(NEW)?;
        let Value::Object(arguments) = arguments else {
            return Err(demo::Error::Waited("arguments"));
        };
        let arguments_sha256 = digest::arguments(ACTION, &arguments);
        let execute = frame::Execute { grant, invocation, arguments_sha256, deadline_ms: 30_000 };
        Ok((invocation, (grant, execute)))
    }

    /// Returns how a call ended that may have been answered before the person had decided.
    fn final_result(&mut self, agent: &mut Agent, mut result: Value) -> Result<Value, demo::Error> {
        while let Some("approval_pending" | "running") =
            result.get("status").and_then(Value::as_str)
        {
            let arguments = json!({ "invocation": member(&result, "invocation"), "wait": 5 });
            result = self.call(agent, "get_invocation", &arguments)?;
        }
        Ok(result)
    }

    fn repeat(
        &mut self,
        agent: &mut Agent,
        invocation: InvocationId,
        (grant, execute): Approved,
    ) -> Result<(), demo::Error> {
        self.say(
            "An approval is valid once. The command that was just carried \
        out is sent to the plugin again:",
        )?;
        let order = frame::write(&FromDaemon::Execute(execute));
        self.page.order(move |plugin| plugin.hear(&order));
        let why = self.wait("the refusal of the plugin", |event| match event {
            Event::Refused(why) => Some(*why),
            _ => None,
        })?;
        self.expect("the plugin's answer", &"not_approved", &why)?;
        self.expect("how often it was done", &1, &self.host.times(grant))?;
        self.show(
            "plugin",
            &format!("refused ({why}) and hung up; done {} time", self.host.times(grant)),
        )?;
        let found =
            self.call(agent, "get_invocation", &json!({ "invocation": invocation.to_string() }))?;
        self.expect("the state", &json!("succeeded"), member(&found, "state"))
    }

    fn undo(&mut self) -> Result<(), demo::Error> {
        self.say(
            "Each approved change is one undo step in the design tool. The person presses Ctrl+Z:",
        )?;
        let undone = self.host.open().document.undo();
        self.expect("that there was a step to undo", &true, &undone)?;
        self.expect_title(OLD)
    }

    fn audit(&mut self) -> Result<(), demo::Error> {
        self.say(
            "The operator verifies the audit log, which never contains arguments, names or results:",
        )?;
        let path = "/api/v1/operator/relay/audit-events/verify";
        let verified = self.stage.operator_get(path)?;
        self.show("operator", &format!("GET {path} -> {verified}"))?;
        self.expect("whether the log is intact", &json!(true), member(&verified, "intact"))?;
        let invalid = member(member(&verified, "signatures"), "invalid");
        self.expect("how many signatures are invalid", &json!(0), invalid)
    }

    /// Calls a tool, and shows the call and its answer.
    fn call(
        &mut self,
        agent: &mut Agent,
        tool: &str,
        arguments: &Value,
    ) -> Result<Value, demo::Error> {
        self.show("agent", &format!("{tool} {arguments}"))?;
        let result = agent.call(tool, arguments)?;
        self.show("agent", &format!("got {}", text(&result, "state")))?;
        Ok(result)
    }

    fn draw(&mut self, card: &Card) -> Result<(), demo::Error> {
        let Card { client, lines, .. } = card;
        self.print(&format!("\n  +-- {client} asks -----------------------------------------\n"))?;
        for line in lines {
            self.print(&format!("  | {} ({})\n", line.title, line.effect))?;
            for (label, old, now) in &line.rows {
                let old = old.as_ref().map(|old| format!("{old:?} becomes ")).unwrap_or_default();
                self.print(&format!("  |   {label}: {old}{now:?}\n"))?;
            }
        }
        self.print("  +-----------------------------------------------------------\n\n")
    }

    fn agreed(&mut self, what: &str) -> Result<bool, demo::Error> {
        self.print(&format!("  Press Enter to {what}, or type n and Enter to decline: "))?;
        let agreed = (self.ask)().map_err(|error| demo::Error::System("read the answer", error))?;
        self.print(if agreed { "\n" } else { "declined\n" })?;
        Ok(agreed)
    }

    fn wait<T>(
        &self,
        what: &'static str,
        wanted: impl FnMut(&Event) -> Option<T>,
    ) -> Result<T, demo::Error> {
        self.page.until(PATIENCE, wanted).ok_or(demo::Error::Waited(what))
    }

    fn expect_title(&mut self, expected: &str) -> Result<(), demo::Error> {
        let title =
            self.host.open().document.node(Document::TITLE).and_then(|node| node.text.clone());
        self.show("file", &format!("the title reads {:?}", title.as_deref().unwrap_or_default()))?;
        self.expect("the title in the file", &Some(expected), &title.as_deref())
    }

    fn expect<T: PartialEq + Debug + ?Sized>(
        &self,
        what: &str,
        expected: &T,
        found: &T,
    ) -> Result<(), demo::Error> {
        if expected == found { Ok(()) } else { Err(unexpected(what, &expected, &found)) }
    }

    fn say(&mut self, text: &str) -> Result<(), demo::Error> {
        self.print(&format!("\n# {text}\n"))
    }

    fn show(&mut self, who: &str, text: &str) -> Result<(), demo::Error> {
        self.print(&format!("  {who:<9}{text}\n"))
    }

    fn print(&mut self, text: &str) -> Result<(), demo::Error> {
        (self.print)(text).map_err(|error| demo::Error::System("print", error))
    }
}

fn member<'v>(value: &'v Value, name: &str) -> &'v Value {
    value.get(name).unwrap_or(&Value::Null)
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    member(value, name).as_str().unwrap_or_default()
}
