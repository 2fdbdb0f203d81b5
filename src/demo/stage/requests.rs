//! What comes to the daemon from outside: webhooks as the forge sends them, and results as workflow
//! runs do.

use std::io;

use serde_json::{Value, json};

use crate::crypto::sha256;
use crate::demo;
use crate::demo::stage::{PATIENCE, Stage, WEBHOOK_SECRET};
use crate::domain::delivery::DeliveryId;
use crate::runtime::clock::Clock as _;
use crate::simulator::{self, RunClaims, sign};

/// Names and values.
type Headers<'a> = [(&'a str, String)];

impl Stage {
    /// Sends a webhook as the forge would, under a delivery id of its own; returns both.
    pub(in crate::demo) fn deliver(
        &mut self,
        webhook: &simulator::Webhook,
    ) -> Result<(DeliveryId, u16, String), demo::Error> {
        let id: DeliveryId =
            self.ids.uuid(self.clock.now()).to_string().parse().expect("a UUID is a delivery id");
        let (status, outcome) = self.deliver_as(&id, webhook)?;
        Ok((id, status, outcome))
    }

    /// Sends a webhook under a delivery id; returns the status and the outcome it was answered with.
    pub(in crate::demo) fn deliver_as(
        &self,
        id: &DeliveryId,
        webhook: &simulator::Webhook,
    ) -> Result<(u16, String), demo::Error> {
        let headers = [
            ("X-GitHub-Event", webhook.event.to_owned()),
            ("X-GitHub-Delivery", id.to_string()),
            ("X-Hub-Signature-256", sign(WEBHOOK_SECRET, &webhook.body)),
        ];
        self.post("/webhooks/forge", &headers, &webhook.body)
    }

    /// Sends the result of a workflow run, with the identity token of `signer`; returns the status and
    /// the outcome it was answered with, or the code of its problem.
    pub(in crate::demo) fn send_result(
        &self,
        run: &simulator::WorkflowRun,
        signer: &simulator::WorkflowRun,
        decision: &str,
    ) -> Result<(u16, String), demo::Error> {
        let body = json!({
            "version": 1,
            "decision": decision,
            "headCommit": run.head_sha,
            "findings": {"critical": 0, "high": 0, "medium": 1, "low": 2},
            "artifact": {"digest": format!("sha256:{}", "ab".repeat(32))},
        })
        .to_string();
        let audience = format!("svcd:v1:{}:{}", run.nonce, sha256::of(body.as_bytes()));
        let name = self.webhooks.repository.full_name.as_str();
        let token = self.issuer.mint(&RunClaims::of(signer, name, &signer.head_sha), &audience);
        let headers = [("Authorization", format!("Bearer {token}"))];
        self.post(&result_path(run), &headers, body.as_bytes())
    }

    /// Asks for a document as the operator.
    pub(in crate::demo) fn operator_get(&self, path: &str) -> Result<Value, demo::Error> {
        let failed =
            |e: ureq::Error| demo::Error::System("ask as the operator", io::Error::other(e));
        let mut answer = ureq::get(format!("http://{}{path}", self.daemon()?.operator))
            .config()
            .timeout_global(Some(PATIENCE))
            .build()
            .header("Authorization", format!("Bearer {}", self.token))
            .call()
            .map_err(failed)?;
        answer.body_mut().read_json().map_err(failed)
    }

    fn post(
        &self,
        path: &str,
        headers: &Headers<'_>,
        body: &[u8],
    ) -> Result<(u16, String), demo::Error> {
        let failed = |e: ureq::Error| demo::Error::System("send a request", io::Error::other(e));
        let mut request = ureq::post(format!("http://{}{path}", self.daemon()?.public))
            .config()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .build()
            .header("Content-Type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let mut answer = request.send(body).map_err(failed)?;
        let body: Value = answer.body_mut().read_json().map_err(failed)?;
        let word = body.get("outcome").or_else(|| body.get("code")).and_then(Value::as_str);
        Ok((answer.status().as_u16(), word.unwrap_or_default().to_owned()))
    }
}

/// Returns where the result of a workflow run is sent.
pub(in crate::demo) fn result_path(run: &simulator::WorkflowRun) -> String {
    format!("/api/v1/release-runs/{}/attempts/{}/result", run.release_run, run.attempt)
}
