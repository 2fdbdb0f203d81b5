//! `svcctl relay pair` beside the real daemon: the code goes from the control socket's daemon to its public address.

use std::sync::Arc;

use svc::relay::code::PairingCode;
use svc::runtime::clock::SystemClock;
use svc::runtime::random::{Ids, SystemEntropy};
use svc::store::{LogRules, Options, Store};

use super::site::Site;
use crate::support::relay::Relay;

#[test]
fn a_code_is_claimed_once_and_an_unknown_one_is_not_found() {
    let mut site = Site::new();
    for name in ["SVC_MCP", "SVC_RELAY", "SVC_RELAY_LOCAL"] {
        site.set(name, "true");
    }
    let _daemon = site.start();
    let clock = Arc::new(SystemClock::new());
    let store = Store::open(Options {
        path: site.database(),
        clock: Arc::<SystemClock>::clone(&clock),
        ids: Ids::new(Box::new(SystemEntropy::new())),
        on_fatal: Box::new(|error| panic!("the disk failed: {error:?}")),
        on_opening: Arc::new(|_| {}),
        log: LogRules::default(),
    })
    .unwrap();
    let code: PairingCode = "7K2M-9QXV".parse().unwrap();
    let pairing = Relay::new(&store, &clock).begin(code.digest());
    let url = format!("unix:{}", site.socket().display());
    let ended = site.svcctl(&url, &["relay", "pair", "7k2m 9qxv"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("penpot") && ended.stderr.contains("confirm in the plugin"));
    let claimed = store.relay_pairing(pairing).unwrap().unwrap();
    assert_eq!((claimed.subject.as_str(), claimed.client.as_str()), ("local", "local"));
    let again = site.svcctl(&url, &["relay", "pair", "7K2M-9QXV"]);
    assert_eq!(again.code, Some(6), "{again:?}");
    assert!(again.stderr.contains("read the code from the plugin again"), "{again:?}");
    let status = site.svcctl(&url, &["relay", "status"]);
    assert!(status.code == Some(0) && status.stdout.starts_with("relay        on\n"), "{status:?}");
}
