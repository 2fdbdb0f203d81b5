//! A reload of secrets, by a signal and by `svcctl reload`: all of them are taken or none, and from then on the
//! old ones are refused.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::thread::scope;

use ring::hmac;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use svc::domain::time::Timestamp;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::simulator::{Webhook, WorkflowRun, sign};

use super::ask::Ask;
use super::letters;
use super::process::{Daemon, delivery};
use super::results::{Place, body, sha256};
use super::site::{Ended, Site, svcd};
use super::{SECRET, TOKEN, commit, database, wait_for};

const NEW_TOKEN: &str = "fedcba9876543210fedcba9876543210";
const NEW_SECRET: &str = "another webhook secret of the tests";
const RESULT_SECRET: &str = "the-secret-of-the-results-of-a-site";
const NEW_RESULT_SECRET: &str = "another-secret-of-the-results-of-a-site";
const SIGNATURE: &str = "X-Hub-Signature-256";

fn hang_up(daemon: &Daemon) {
    kill_process(daemon.pid(), Signal::HUP).unwrap();
}

fn reload(site: &Site) -> Ended {
    site.svcctl(&format!("unix:{}", site.socket().display()), &["reload"])
}

/// Returns the lines of an event, oldest first.
fn events(daemon: &Daemon, event: &str) -> Vec<Value> {
    let log = daemon.log();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["event"] == event).collect()
}

/// Waits for so many lines of an event, since an answer may come before the line that was logged before it. Returns
/// the last one.
fn wait_for_event(daemon: &Daemon, event: &str, count: usize) -> Value {
    let lines = wait_for(event, || {
        let lines = events(daemon, event);
        (lines.len() >= count).then_some(lines)
    });
    assert_eq!(lines.len(), count, "{lines:?}");
    lines.into_iter().next_back().unwrap()
}

/// Returns the status of an operator's request with this token.
fn asked_with(daemon: &Daemon, token: &str) -> u16 {
    let ask = Ask::get("/api/v1/operator/installations");
    daemon.control.ask(&ask.header("Authorization", format!("Bearer {token}"))).status
}

/// Returns the status of a webhook that is signed with this secret.
fn signed_with(daemon: &Daemon, id: &str, webhook: &Webhook, secret: &str) -> u16 {
    let ask = delivery(id, webhook).without(SIGNATURE);
    daemon.public.ask(&ask.header(SIGNATURE, sign(secret, &webhook.body))).status
}

#[test]
fn a_hangup_takes_new_secrets_and_refuses_the_old_ones() {
    let mut site = Site::new();
    site.secret("SVC_WEBHOOK_SECRET_PREVIOUS", "a webhook secret that is over soon");
    let mut daemon = site.start();
    site.secret("SVC_OPERATOR_API_TOKEN", NEW_TOKEN);
    site.secret("SVC_WEBHOOK_SECRET", NEW_SECRET);
    site.secret("SVC_WEBHOOK_SECRET_PREVIOUS", SECRET);
    let webhook = site.webhooks.push_tag("v1", &commit(1));
    assert_eq!((asked_with(&daemon, TOKEN), asked_with(&daemon, NEW_TOKEN)), (200, 401));
    hang_up(&daemon);
    let reloaded = wait_for("the reload, or the end", || {
        let reloaded = events(&daemon, "config.reloaded").pop();
        reloaded.map(Some).or_else(|| (!daemon.is_running()).then_some(None))
    });
    let reloaded = reloaded.expect("a hangup ended the daemon");
    let names = "SVC_OPERATOR_API_TOKEN,SVC_WEBHOOK_SECRET,SVC_WEBHOOK_SECRET_PREVIOUS";
    assert_eq!(reloaded["changed"], names);
    assert_eq!(reloaded["unchanged"], "SVC_FORGE_PRIVATE_KEY");
    assert_eq!((asked_with(&daemon, TOKEN), asked_with(&daemon, NEW_TOKEN)), (401, 200));
    assert_eq!(signed_with(&daemon, "a", &webhook, NEW_SECRET), 202);
    assert_eq!(signed_with(&daemon, "b", &webhook, SECRET), 202);
    assert_eq!(signed_with(&daemon, "c", &webhook, "a webhook secret that is over soon"), 401);
    for secret in [TOKEN, NEW_TOKEN, SECRET, NEW_SECRET] {
        assert!(!daemon.log().contains(secret));
    }
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0), "{}", daemon.log());
}

#[test]
fn a_reload_that_has_ended_holds_for_the_next_request() {
    let mut site = Site::new();
    let daemon = site.start();
    for (token, old) in [(NEW_TOKEN, TOKEN), (TOKEN, NEW_TOKEN), (NEW_TOKEN, TOKEN)] {
        site.secret("SVC_OPERATOR_API_TOKEN", token);
        let ended = reload(&site);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stdout.contains("SVC_OPERATOR_API_TOKEN"), "{ended:?}");
        assert_eq!((asked_with(&daemon, old), asked_with(&daemon, token)), (401, 200));
    }
    let unchanged = reload(&site);
    assert_eq!(unchanged.code, Some(0), "{unchanged:?}");
    assert_eq!(wait_for_event(&daemon, "config.reloaded", 4)["changed"], "");
}

#[test]
fn the_socket_of_the_setting_is_asked() {
    let site = Site::new();
    let _daemon = site.start();
    let mut command = site.command(env!("CARGO_BIN_EXE_svcctl"));
    let output = command.arg("reload").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let url = site.svcctl("https://svc.example", &["reload"]);
    assert_eq!(url.code, Some(64), "{url:?}");
}

#[test]
fn the_app_s_new_key_signs_the_next_credential() {
    let mut site = Site::new();
    let key = site.forge.private_key_pem();
    site.secret("SVC_FORGE_PRIVATE_KEY", include_str!("../../data/throwaway-key-other.pem"));
    let daemon = site.start();
    letters::push(&daemon, &site.webhooks, 1);
    // The forge refuses the other key.
    daemon.logged("\"status\":401");
    site.secret("SVC_FORGE_PRIVATE_KEY", key);
    assert_eq!(reload(&site).code, Some(0), "{}", daemon.log());
    letters::push(&daemon, &site.webhooks, 2);
    wait_for("a workflow run", || site.forge.workflow_runs().pop());
}

/// Returns a result of a run, signed with a shared secret.
fn result(run: &WorkflowRun, secret: &str, body: &str) -> Ask {
    let now = SystemClock::new().now().since(Timestamp::from_micros(0)).as_secs();
    let message = format!("v1\n{}\n{}\n1\n{now}\n{}", run.nonce, run.id, sha256(body));
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let mac = hmac::sign(&key, message.as_bytes());
    let mac: String = mac.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let (release_run, attempt) = (&run.release_run, &run.attempt);
    Ask::post(&format!("/api/v1/release-runs/{release_run}/attempts/{attempt}/result"))
        .header("Content-Type", "application/json")
        .header("X-Svc-Result-Signature", format!("sha256={mac}"))
        .header("X-Svc-Result-Timestamp", now.to_string())
        .header("X-Svc-Result-Run-Id", run.id.to_string())
        .header("X-Svc-Result-Run-Attempt", "1")
        .body(body)
}

#[test]
fn the_new_secret_verifies_the_next_result() {
    let mut place = Place::new();
    place.site.secret("SVC_RESULT_SECRET", RESULT_SECRET);
    let daemon = place.site.start();
    let run = place.run(&daemon, 1);
    let body = body("accepted", 1, &"0".repeat(64));
    assert_eq!(daemon.public.ask(&result(&run, NEW_RESULT_SECRET, &body)).status, 401);
    place.site.secret("SVC_RESULT_SECRET", NEW_RESULT_SECRET);
    assert_eq!(reload(&place.site).code, Some(0), "{}", daemon.log());
    assert_eq!(daemon.public.ask(&result(&run, RESULT_SECRET, &body)).status, 401);
    assert_eq!(daemon.public.ask(&result(&run, NEW_RESULT_SECRET, &body)).status, 200);
}

#[test]
fn one_secret_that_is_refused_leaves_them_all_as_they_were() {
    let mut site = Site::new();
    let mut daemon = site.start();
    let file = site.path("SVC_WEBHOOK_SECRET");
    let webhook = site.webhooks.push_tag("v1", &commit(1));
    // This one is sound, and must not be taken alone.
    site.secret("SVC_OPERATOR_API_TOKEN", NEW_TOKEN);
    let spoil: [(&str, &dyn Fn()); 6] = [
        ("too large", &|| fs::write(&file, "x".repeat(64 * 1024 + 1)).unwrap()),
        ("short", &|| fs::write(&file, "short-secret\n").unwrap()),
        ("empty", &|| fs::write(&file, "").unwrap()),
        ("open to others", &|| {
            fs::write(&file, SECRET).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o604)).unwrap();
        }),
        ("missing", &|| fs::remove_file(&file).unwrap()),
        ("no file", &|| fs::create_dir(&file).unwrap()),
    ];
    for (number, (what, spoil)) in spoil.into_iter().enumerate() {
        spoil();
        let ended = reload(&site);
        assert_eq!(ended.code, Some(1), "{what}: {ended:?}");
        assert!(ended.stderr.contains("SVC_WEBHOOK_SECRET"), "{what}: {ended:?}");
        assert!(!ended.stderr.contains("short-secret"), "{what}: {ended:?}");
        let refused = wait_for_event(&daemon, "config.reload_refused", number + 1);
        let problems = refused["problems"].as_str().unwrap();
        assert!(problems.contains("SVC_WEBHOOK_SECRET"), "{what}: {problems}");
        assert_eq!((asked_with(&daemon, TOKEN), asked_with(&daemon, NEW_TOKEN)), (200, 401));
        assert_eq!(signed_with(&daemon, &number.to_string(), &webhook, SECRET), 202, "{what}");
    }
    hang_up(&daemon);
    wait_for_event(&daemon, "config.reload_refused", 7);
    assert!(daemon.is_running());
    assert!(events(&daemon, "config.reloaded").is_empty());
    fs::remove_dir(&file).unwrap();
    site.secret("SVC_WEBHOOK_SECRET", SECRET);
    assert_eq!(reload(&site).code, Some(0), "{}", daemon.log());
    assert_eq!((asked_with(&daemon, TOKEN), asked_with(&daemon, NEW_TOKEN)), (401, 200));
}

#[test]
fn only_the_control_socket_takes_a_reload() {
    let site = Site::new();
    let daemon = site.start();
    let post = Ask::post("/api/v1/reload").body("");
    assert_eq!(daemon.control.ask(&post).status, 200);
    assert_eq!(daemon.control.ask(&Ask::get("/api/v1/reload")).status, 405);
    let operator = daemon.operator.clone().unwrap();
    for endpoint in [&daemon.public, &operator] {
        assert_eq!(endpoint.ask(&post.clone().bearer()).status, 404);
    }
    wait_for_event(&daemon, "config.reloaded", 1);
}

#[test]
fn hangups_that_come_quickly_end_with_what_is_in_the_files() {
    let mut site = Site::new();
    let mut daemon = site.start();
    for number in 0..50 {
        let token = if number % 2 == 0 { NEW_TOKEN } else { TOKEN };
        // A file is replaced whole, as an operator would do it.
        let (file, fresh) = (site.path("SVC_OPERATOR_API_TOKEN"), site.path("fresh"));
        fs::write(&fresh, token).unwrap();
        fs::set_permissions(&fresh, fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(&fresh, &file).unwrap();
        hang_up(&daemon);
    }
    // None of the reloads before it can have taken this one: who sees it accepted sees the last reload.
    let last = "00112233445566778899aabbccddeeff";
    site.secret("SVC_OPERATOR_API_TOKEN", last);
    hang_up(&daemon);
    wait_for("the last token", || (asked_with(&daemon, last) == 200).then_some(()));
    assert_eq!((asked_with(&daemon, TOKEN), asked_with(&daemon, NEW_TOKEN)), (401, 401));
    assert!(daemon.is_running());
}

#[test]
fn a_hangup_during_the_start_waits_for_its_end() {
    let site = Site::new();
    drop(site.start());
    let other = database::open(&site.database());
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let started = scope(|scope| {
        let starting = scope.spawn(|| {
            // The shell leaves its number behind, which becomes that of the daemon.
            let named = site.path("pid");
            let script = format!("echo $$ > {}; exec {}", named.display(), svcd());
            let mut command = site.command("/bin/sh");
            Daemon::start(command.args(["-c", &script]), site.socket())
        });
        let pid = wait_for("the process", || {
            let number = fs::read_to_string(site.path("pid")).ok()?;
            Pid::from_raw(number.strip_suffix('\n')?.parse().ok()?)
        });
        wait_for("its signal handlers", || {
            let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero()));
            let status = status.unwrap();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
            // A bit for each signal, and SIGHUP is the first.
            let caught = u64::from_str_radix(caught.trim(), 16).unwrap();
            (caught & 1 != 0).then_some(())
        });
        fs::write(site.path("SVC_OPERATOR_API_TOKEN"), NEW_TOKEN).unwrap();
        kill_process(pid, Signal::HUP).unwrap();
        other.execute_batch("ROLLBACK").unwrap();
        starting.join().unwrap()
    });
    let daemon = started.unwrap_or_else(|log| panic!("svcd did not start:\n{log}"));
    wait_for("the new token", || (asked_with(&daemon, NEW_TOKEN) == 200).then_some(()));
    wait_for_event(&daemon, "config.reloaded", 1);
}

#[test]
fn the_supervisor_is_told_of_a_hangup() {
    let mut site = Site::new();
    let path = site.path("notify");
    let supervisor = UnixDatagram::bind(&path).unwrap();
    supervisor.set_read_timeout(Some(super::PATIENCE)).unwrap();
    site.set("NOTIFY_SOCKET", path.to_str().unwrap());
    let daemon = site.start();
    let told = || {
        let mut buffer = [0; 512];
        let length = supervisor.recv(&mut buffer).expect("the daemon tells its supervisor");
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    };
    // The self-check speaks whenever it likes, and a start that takes long asks for more time.
    let others = ["WATCHDOG=1", "EXTEND_TIMEOUT_USEC="];
    let is_other = |text: &String| others.iter().any(|other| text.contains(other));
    let told = || std::iter::repeat_with(told).find(|text| !is_other(text)).unwrap();
    assert_eq!(told().trim(), "READY=1");
    hang_up(&daemon);
    let reloading = told();
    assert!(reloading.contains("RELOADING=1") && reloading.contains("MONOTONIC_USEC="));
    assert_eq!(told().trim(), "READY=1");
}

/// The environment of a process cannot change, so a file of predecessors is named before there is one.
#[test]
fn a_secret_is_rotated_without_a_restart() {
    let mut site = Site::new();
    site.secret("SVC_WEBHOOK_SECRET_PREVIOUS", "");
    let daemon = site.start();
    let webhook = site.webhooks.push_tag("v1", &commit(1));
    assert_eq!(signed_with(&daemon, "a", &webhook, ""), 401);
    site.secret("SVC_WEBHOOK_SECRET", NEW_SECRET);
    site.secret("SVC_WEBHOOK_SECRET_PREVIOUS", SECRET);
    assert_eq!(reload(&site).code, Some(0), "{}", daemon.log());
    assert_eq!(signed_with(&daemon, "b", &webhook, NEW_SECRET), 202);
    assert_eq!(signed_with(&daemon, "c", &webhook, SECRET), 202);
    site.secret("SVC_WEBHOOK_SECRET_PREVIOUS", "");
    assert_eq!(reload(&site).code, Some(0), "{}", daemon.log());
    assert_eq!(signed_with(&daemon, "d", &webhook, SECRET), 401);
    assert_eq!(signed_with(&daemon, "e", &webhook, NEW_SECRET), 202);
    let reloaded = wait_for_event(&daemon, "config.reloaded", 2);
    assert_eq!(reloaded["changed"], "SVC_WEBHOOK_SECRET_PREVIOUS");
}

#[test]
fn a_credential_of_systemd_is_unchanged() {
    let mut site = Site::new();
    let folder = site.path("credentials");
    fs::create_dir(&folder).unwrap();
    fs::rename(site.path("SVC_OPERATOR_API_TOKEN"), folder.join("SVC_OPERATOR_API_TOKEN")).unwrap();
    site.unset("SVC_OPERATOR_API_TOKEN_FILE");
    site.set("CREDENTIALS_DIRECTORY", folder.to_str().unwrap());
    let daemon = site.start();
    site.secret("SVC_WEBHOOK_SECRET", NEW_SECRET);
    let ended = reload(&site);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let reloaded = wait_for_event(&daemon, "config.reloaded", 1);
    assert_eq!(reloaded["changed"], "SVC_WEBHOOK_SECRET");
    assert_eq!(reloaded["unchanged"], "SVC_FORGE_PRIVATE_KEY,SVC_OPERATOR_API_TOKEN");
    assert_eq!(asked_with(&daemon, TOKEN), 200);
}
