use super::*;
use crate::daemon::check_forge::finding::FindingSeverity;

fn refused(untold: Untold, ahead_seconds: Option<i64>) -> Vec<Finding> {
    diagnose(&Observations {
        api_url: "https://forge.example/api/v3".to_owned(),
        app_id: 7,
        webhook_wanted: None,
        ahead_seconds,
        app: Err(untold),
        webhook: None,
        deliveries: None,
        installations: None,
    })
}

#[test]
fn a_clock_explains_a_refused_key_only_as_far_as_the_forge_refuses_for_it() {
    for (ahead, wanted) in [
        (None, vec![Code::AppKeyRefused]),
        (Some(0), vec![Code::AppKeyRefused]),
        (Some(30), vec![Code::AppKeyRefused]),
        (Some(-30), vec![Code::AppKeyRefused]),
        (Some(31), vec![Code::ClockSkew, Code::AppKeyRefused]),
        (Some(-60), vec![Code::ClockSkew, Code::AppKeyRefused]),
        (Some(-61), vec![Code::ClockSkew]),
        (Some(479), vec![Code::ClockSkew, Code::AppKeyRefused]),
        (Some(480), vec![Code::ClockSkew]),
        (Some(i64::MIN), vec![Code::ClockSkew]),
        (Some(i64::MAX), vec![Code::ClockSkew]),
    ] {
        let codes: Vec<Code> =
            refused(Untold::Status(401), ahead).iter().map(|finding| finding.code).collect();
        assert_eq!(codes, wanted, "{ahead:?}");
    }
}

#[test]
fn every_way_to_tell_nothing_is_one_problem_with_a_next_step() {
    let causes = FailureCause::ALL.iter().map(|cause| Untold::NoAnswer(Some(*cause)));
    let statuses = [301, 400, 401, 403, 404, 410, 418, 500, 503].map(Untold::Status);
    let others = [Untold::NoAnswer(None), Untold::RateLimited, Untold::Unreadable];
    for untold in causes.chain(statuses).chain(others) {
        let findings = refused(untold, None);
        let [finding] = findings.as_slice() else { panic!("{untold:?}: {findings:?}") };
        assert_eq!(finding.severity, FindingSeverity::Error);
        assert!(finding.next.len() > 10, "{finding:?}");
    }
}

#[test]
fn an_answer_about_another_app_is_found() {
    let rights = Rights {
        permissions: APP_PERMISSIONS.map(|(name, level)| (name.into(), level.into())).into(),
        events: CHOSEN_EVENTS.map(str::to_owned).into(),
    };
    let settings = AppSettings { id: 8, rights };
    let found = of_identity(7, &settings).map(|finding| finding.code);
    assert_eq!(found, Some(Code::AppDiffers));
    assert_eq!(of_identity(8, &settings), None);
    assert_eq!(of_rights(&settings.rights), Vec::new());
}

#[test]
fn an_address_is_shown_without_what_may_be_secret() {
    for (url, wanted) in [
        ("https://SVC.example/webhooks/forge", Some("https://svc.example/webhooks/forge")),
        ("https://a:b@svc.example:8443/x?token=c", Some("https://svc.example:8443/x")),
        ("https://svc.example", Some("https://svc.example/")),
        ("svc.example", None),
        ("https://svc.example/\u{1b}[31m", None),
        ("", None),
    ] {
        assert_eq!(webhook::shown(url).as_deref(), wanted, "{url}");
    }
    assert_eq!(webhook::shown(&format!("https://svc.example/{}", "a".repeat(500))), None);
}
