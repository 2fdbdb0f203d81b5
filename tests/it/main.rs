//! One binary for every integration test.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper of a test fails like the test it helps"
)]

mod agent_cards;
mod cards;
mod cli_client;
mod closing;
mod config;
mod daemon;
mod debug;
mod demo;
mod fairness;
mod forge_client;
mod generated;
mod hostile;
mod http_server;
mod main_job;
mod mcp;
mod mcp_access;
mod migrations;
mod openapi;
mod operator_api;
mod operator_lists;
mod operator_relay;
mod outcomes;
mod outcomes_result;
mod packages;
mod power;
mod query_plans;
mod reconcile;
mod redelivery;
mod relay;
mod relay_socket;
mod release_retention;
mod results;
mod signature_vectors;
mod simulation;
mod slo;
mod store_contract;
mod story;
mod support;
mod tidy;

/// A file that no line names would never run.
#[test]
fn no_file_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let own = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") {
            assert!(own.contains(&format!("\nmod {module};\n")), "{name} is in no mod line");
        }
    }
}
