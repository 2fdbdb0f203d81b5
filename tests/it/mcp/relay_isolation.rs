//! What is another subject's and what does not exist are the same, for every tool, method and path of the relay.
#![expect(clippy::print_stdout, reason = "times are to be read")]

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use svc::domain::relay::ActionEffect;
use svc::domain::relay::invocation::Report;
use svc::http::message::Surface;
use svc::mcp::relay::RelayBackend as Hub;
use svc::mcp::revision::MODERN;
use svc::mcp::{Caller, Reply, Status};
use svc::relay::action::DesignAction;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::random::Random as _;

use super::in_process::{Client, InProcess};
use super::{enveloped, request};
use crate::hostile::isolation::{absent, footprint, median};
use crate::support::relay::Relay;
use crate::support::world::bytes;
use crate::support::{SeededRandom, World};

const PAIRS: usize = 1_000;
const SEED: u64 = 20_261_122;
const SUBJECTS: u8 = 24;
const OPERATORS: &str = "/api/v1/operator/relay";

/// What a subject has.
struct Owned {
    subject: &'static str,
    session: String,
    proposal: String,
    /// One in each state that callers see.
    invocations: Vec<String>,
}

/// Subjects with a file each, and in it something that waits, was denied, was carried out, or is being carried out.
fn owned(relay: &Relay, number: u8) -> Owned {
    let subject: &'static str = format!("https://issuer.example subject-{number}").leak();
    let plugin = relay.pair(number, subject, number);
    let (waiting, steps) = relay.propose(&plugin, &[ActionEffect::Write, ActionEffect::Read], 1);
    let (denied, others) = relay.propose(&plugin, &[ActionEffect::Write], 2);
    relay.deny(&plugin, denied);
    let (done, grant) = relay.run(&plugin, ActionEffect::Write, 3);
    relay.store.relay_report(plugin.held, grant, Report::Succeeded).unwrap();
    let (runs, _) = relay.run(&plugin, ActionEffect::Write, 4);
    let ids = [steps, others, vec![done, runs]].concat();
    Owned {
        subject,
        session: plugin.held.session.to_string(),
        proposal: waiting.to_string(),
        invocations: ids.iter().map(ToString::to_string).collect(),
    }
}

/// The least arguments that an action takes.
fn arguments(action: DesignAction) -> Value {
    match action {
        DesignAction::ListPages | DesignAction::GetSelection | DesignAction::FindNodes => json!({}),
        DesignAction::GetNode | DesignAction::ExportImage | DesignAction::DeleteNode => {
            json!({"node": "1"})
        }
        DesignAction::CreateRectangle | DesignAction::CreateFrame => {
            json!({"x": 1, "y": 1, "width": 1, "height": 1})
        }
        DesignAction::CreateText => json!({"x": 1, "y": 1, "text": "canary"}),
        DesignAction::SetText => json!({"node": "1", "text": "canary"}),
        DesignAction::SetFill => json!({"node": "1", "color": "#000000"}),
        DesignAction::MoveNode => json!({"node": "1", "x": 1, "y": 1}),
        DesignAction::ResizeNode => json!({"node": "1", "width": 1, "height": 1}),
        DesignAction::RenameNode => json!({"node": "1", "name": "canary"}),
    }
}

/// What can be asked about an id.
#[derive(Clone, Copy, Debug)]
enum Question {
    /// A tool that takes a session: an action, or several steps where there is none.
    Session(Option<DesignAction>),
    Get,
    GetAndWait,
    Cancel,
    Task(&'static str),
    Operator(&'static str),
}

fn questions() -> Vec<Question> {
    let mut questions = vec![Question::Get, Question::GetAndWait, Question::Cancel];
    questions.extend(DesignAction::ALL.iter().map(|action| Question::Session(Some(*action))));
    questions.push(Question::Session(None));
    questions.extend(["tasks/get", "tasks/update", "tasks/cancel"].map(Question::Task));
    questions.extend(["sessions", "devices", "invocations"].map(Question::Operator));
    questions
}

impl Question {
    /// Returns one of what a subject has that this can be asked about.
    fn about(self, owned: &Owned, chance: u8) -> &str {
        let any = |ids: &'_ [String]| usize::from(chance) % ids.len();
        match self {
            Self::Session(_) => &owned.session,
            Self::Task(_) | Self::Operator(_) if chance.is_multiple_of(2) => &owned.proposal,
            _ => &owned.invocations[any(&owned.invocations)],
        }
    }

    /// Returns the method, and the parameters with an id.
    fn message(self, id: &str) -> (&'static str, Value) {
        let tool = |name: &str, arguments: Value| {
            ("tools/call", json!({"name": name, "arguments": arguments}))
        };
        match self {
            Self::Get => tool("get_invocation", json!({"invocation": id})),
            Self::GetAndWait => tool("get_invocation", json!({"invocation": id, "wait": 1})),
            Self::Cancel => tool("cancel_invocation", json!({"invocation": id})),
            Self::Session(Some(action)) => {
                let mut arguments = arguments(action);
                arguments["session"] = id.into();
                tool(action.as_str(), arguments)
            }
            Self::Session(None) => {
                let step =
                    json!({"action": "set_text", "arguments": arguments(DesignAction::SetText)});
                tool("propose_design_steps", json!({"session": id, "steps": [step]}))
            }
            Self::Task(method) => (method, json!({"taskId": id, "inputResponses": {}})),
            Self::Operator(_) => unreachable!("operators do not speak this protocol"),
        }
    }
}

/// A server at a store, and those who have something there.
struct Site {
    world: World,
    server: InProcess,
    owners: Vec<Owned>,
}

impl Site {
    fn new() -> Self {
        let world = World::with_relay();
        let relay = Relay::new(&world.store, &world.clock);
        let owners = (1..=SUBJECTS).map(|number| owned(&relay, number)).collect();
        let hub: Arc<dyn Hub> =
            Arc::<svc::app::relay::Relay>::clone(world.app.relay.as_ref().unwrap());
        Self { world, server: InProcess::with_relay(hub, Duration::from_secs(1)), owners }
    }

    /// Asks as a subject; returns all of the answer.
    fn ask(&self, subject: &str, question: Question, id: &str) -> String {
        match question {
            Question::Operator(list) => self.ask_operator(list, id),
            _ => {
                let (method, params) = question.message(id);
                self.send(subject, method, params, id)
            }
        }
    }

    fn send(&self, subject: &str, method: &'static str, params: Value, id: &str) -> String {
        let name = params["name"].as_str().unwrap_or(id).to_owned();
        let headers =
            [("mcp-protocol-version", MODERN), ("mcp-method", method), ("mcp-name", &name)];
        let can = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        let message = request(7, method, &enveloped(params, &can)).to_string();
        let answered = |answer: svc::mcp::Answer| {
            let status = answer.status == Status::Ok;
            format!("{status} {:?} {}", answer.session, answer.message.unwrap_or_default())
        };
        let caller = Caller { subject: subject.to_owned(), ..Caller::local() };
        match self.server.send_as(&caller, None, &headers, message.as_bytes()) {
            Reply::Ready(answer) => answered(answer),
            Reply::Blocking(run) => answered(run()),
            Reply::Open(begin) | Reply::Late(begin) | Reply::Stream(begin) => {
                let client = Client::default();
                begin(client.channel());
                format!("{:?} {}", client.messages(), client.is_over())
            }
        }
    }

    /// Asks as one who is no operator.
    fn ask_operator(&self, list: &str, id: &str) -> String {
        let asked = [
            (Method::GET, format!("{OPERATORS}/{list}/{id}")),
            (Method::DELETE, format!("{OPERATORS}/{list}/{id}")),
            (Method::POST, format!("{OPERATORS}/{list}/{id}/deny")),
            (Method::GET, format!("{OPERATORS}/{list}?before={id}")),
        ];
        let headers = [("host", "localhost"), ("authorization", "Bearer a.person.s")];
        let answers = asked.map(|(method, target)| {
            let answer = self.world.send(Surface::Control, method, &target, &headers, Vec::new());
            assert_eq!(answer.status, 401, "{target}");
            format!("{:?} {}", answer.headers, String::from_utf8_lossy(bytes(&answer)))
        });
        answers.concat()
    }
}

#[test]
fn a_thousand_foreign_and_absent_ids_are_the_same() {
    let site = Site::new();
    let (before, questions) = (footprint(&site.world), questions());
    let mut random = SeededRandom(SEED);
    let clock = SystemClock::new();
    let mut times = [Vec::new(), Vec::new()];
    for pair in 0..PAIRS {
        let mut chance = [0; 4];
        random.fill(&mut chance);
        let owner = &site.owners[usize::from(chance[0]) % site.owners.len()];
        let asking = &site.owners[(usize::from(chance[1]) + 1) % site.owners.len()];
        // One who has nothing at all asks, too.
        let asking = match asking.subject {
            same if same == owner.subject => "https://issuer.example no-subject",
            other => other,
        };
        for question in &questions {
            let foreign = question.about(owner, chance[2]);
            let absent = absent(&mut random, foreign);
            let mut answers = [String::new(), String::new()];
            for turn in 0..2 {
                // Who is asked about first must not matter.
                let which = (turn + usize::from(chance[3])) % 2;
                let id = if which == 0 { foreign } else { &absent };
                let began = clock.monotonic();
                answers[which] = site.ask(asking, *question, id);
                times[which].push(clock.monotonic().saturating_sub(began));
            }
            let [of_foreign, of_absent] = answers;
            assert_eq!(of_foreign, of_absent, "pair {pair} of seed {SEED}: {question:?}");
        }
        let listed = site.send(
            asking,
            "tools/call",
            json!({"name": "list_design_sessions", "arguments": {}}),
            "",
        );
        assert!(!listed.contains(&owner.session), "pair {pair} of seed {SEED}");
    }
    assert_eq!(footprint(&site.world), before, "a question left something behind");
    let [foreign, absent] = times.each_mut().map(|times| median(times));
    println!(
        "{PAIRS} pairs, {} questions each: median {foreign:?} for foreign ids, {absent:?} for absent ones",
        questions.len()
    );
}

#[test]
fn whose_it_is_gets_another_answer_to_each_question() {
    let site = Site::new();
    let owner = &site.owners[0];
    let mut random = SeededRandom(SEED);
    for question in questions() {
        if matches!(question, Question::Operator(_)) {
            continue;
        }
        // The first of the proposal is the task of its call.
        let id = match question {
            Question::Task(_) => &owner.proposal,
            _ => question.about(owner, 0),
        };
        let absent = absent(&mut random, id);
        let answer = site.ask(owner.subject, question, id);
        assert_ne!(answer, site.ask(owner.subject, question, &absent), "{question:?}");
    }
    let list = json!({"name": "list_design_sessions", "arguments": {}});
    assert!(site.send(owner.subject, "tools/call", list, "").contains(&owner.session));
}
