//! What the table must hold.

use super::*;

#[test]
fn every_operator_route_is_off_the_public_surface_and_all_below_the_prefix_are_theirs() {
    for route in ROUTES {
        let is_theirs = matches!(route.handler, Handler::Operator(_));
        assert!(is_theirs || !is_below(route.path, OPERATOR_PREFIX), "{}", route.path);
        assert!(!is_theirs || !route.surfaces.contains(&Surface::Public), "{}", route.path);
    }
}

#[test]
fn whatever_writes_needs_an_operator_or_the_workflow_run() {
    // What stands here has another proof, or keeps nothing.
    let others = ["/webhooks/forge", "/api/v1/agent-cards/validate"];
    for route in ROUTES.iter().filter(|route| !others.contains(&route.path)) {
        let is_proved = matches!(route.handler, Handler::Operator(_) | Handler::Run(_))
            || route.handler.is_gated();
        // The control socket is for its owner and group, who may reload without a token.
        let is_reload = route.path == "/api/v1/reload" && route.surfaces == [Surface::Control];
        assert!(is_proved || is_reload || route.method == Method::GET, "{}", route.path);
    }
}

#[test]
fn all_routes_of_a_path_are_behind_the_gate_or_none() {
    let is_gated = |route: &Route| route.handler.is_gated();
    for route in ROUTES {
        let others = ROUTES.iter().filter(|other| other.path == route.path);
        assert!(
            others.into_iter().all(|other| is_gated(other) == is_gated(route)),
            "{}",
            route.path
        );
        assert!(!is_gated(route) || !route.surfaces.contains(&Surface::Control), "{}", route.path);
    }
}

#[test]
fn a_web_socket_that_opens_is_no_failure() {
    let classes =
        [101, 200, 304, 429, 503].map(|status| class(StatusCode::from_u16(status).unwrap()));
    assert_eq!(classes, ["1xx", "2xx", "3xx", "4xx", "5xx"]);
}
