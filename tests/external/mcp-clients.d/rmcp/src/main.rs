//! A client made with the Rust SDK. What it reads and prints is described in `../../mcp-clients.mjs`.

use std::error::Error;

use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion};
use rmcp::service::RunningService;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, stdin};
use tokio::process::Command;

type Failure = Box<dyn Error>;
type Connected = RunningService<RoleClient, ClientConfig>;

async fn connect(cell: &Value) -> Result<Connected, Failure> {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let mut info = ClientConfig::default();
    let lifecycle = match cell["mode"].as_str() {
        Some("legacy") => {
            info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
            ClientLifecycleMode::Initialize
        }
        Some("legacy, default") => ClientLifecycleMode::Initialize,
        Some("auto") => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
        Some("auto, default") => {
            ClientLifecycleMode::Auto { preferred_versions, legacy_version: None }
        }
        _ => ClientLifecycleMode::Discover { preferred_versions },
    };
    if let Some(command) = cell["command"].as_str() {
        let transport = TokioChildProcess::new(Command::new(command))?;
        return Ok(info.serve_with_lifecycle(transport, lifecycle).await?);
    }
    let mut config =
        StreamableHttpClientTransportConfig::with_uri(cell["url"].as_str().unwrap_or_default());
    if let Some(token) = cell["token"].as_str() {
        config = config.auth_header(token);
    }
    let transport = StreamableHttpClientTransport::from_config(config);
    Ok(info.serve_with_lifecycle(transport, lifecycle).await?)
}

async fn call(client: &Connected, tool: &'static str, arguments: Value) -> Result<Value, Failure> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let result =
        client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await?;
    Ok(serde_json::to_value(result)?)
}

async fn calls() -> Result<(), Failure> {
    let mut lines = BufReader::new(stdin()).lines();
    let cell: Value = serde_json::from_str(&lines.next_line().await?.unwrap_or_default())?;
    let mut client = connect(&cell).await?;
    let tools = client.list_all_tools().await?;
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    let status = call(&client, "service_status", json!({})).await?;
    let card = call(&client, "validate_agent_card", json!({ "card": cell["card"] })).await?;
    println!("{}", json!({ "tools": names, "status": status, "card": card }));
    if lines.next_line().await?.is_some() {
        let status = match call(&client, "service_status", json!({})).await {
            Ok(status) => status,
            Err(_) => {
                client.cancel().await?;
                client = connect(&cell).await?;
                call(&client, "service_status", json!({})).await?
            }
        };
        println!("{}", json!({ "status": status }));
    }
    client.cancel().await?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    if let Err(error) = calls().await {
        println!("{}", json!({ "error": format!("{error:?}") }));
    }
}
