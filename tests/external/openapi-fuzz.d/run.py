"""Fuzzes every surface of a running daemon by its description. Arguments: the folder of schemathesis, the folder of the
programs, a folder for the daemon's files. Prints how many requests each surface answered."""

import hashlib
import hmac
import json
import os
import re
import secrets
import socket
import socketserver
import subprocess
import sys
import threading
import time
import urllib.request
import uuid
from pathlib import Path

HERE = Path(__file__).parent
CASES_MIN = 1000
INSTALLATION = "42"
# Each operation gets so many made-up requests of either kind, beside those that cover its parameters one by one.
EXAMPLES = os.environ.get("SVC_FUZZ_EXAMPLES", "1")
SEED = os.environ.get("SVC_FUZZ_SEED", "1")

# What is done on each surface. The control socket has the routes of the operator's address behind a server of its own, so
# that its parameters need not be covered one by one again.
PHASES = {
    "public": "examples,coverage,fuzzing,stateful",
    "operator": "examples,coverage,fuzzing,stateful",
    "control": "examples,fuzzing",
}

environment, programs, work = (Path(argument).resolve() for argument in sys.argv[1:4])
description = json.loads((HERE.parents[2] / "docs/openapi.json").read_text())


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Forwarder(socketserver.ThreadingTCPServer):
    """Joins each TCP connection with one to a Unix socket, because the fuzzer speaks TCP only."""

    daemon_threads = True

    def __init__(self, path):
        super().__init__(("127.0.0.1", 0), None)
        self.path = str(path)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def finish_request(self, request, client_address):
        with socket.socket(socket.AF_UNIX) as other:
            other.connect(self.path)
            back = threading.Thread(target=pump, args=(other, request), daemon=True)
            back.start()
            pump(request, other)
            back.join()


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def answer(url, body=None, headers=None):
    request = urllib.request.Request(url, data=body, headers=headers or {})
    with urllib.request.urlopen(request, timeout=5) as response:
        return json.loads(response.read())


def wait_for(what, look):
    for _ in range(600):
        try:
            if (seen := look()) is not None:
                return seen
        except OSError:
            pass
        time.sleep(0.1)
    raise SystemExit(f"waited in vain for {what}:\n{(work / 'log').read_text()[-4000:]}")


def secret_file(name, value):
    path = work / name
    path.touch(0o600)
    path.write_text(value)
    return str(path)


token, webhook_secret = secrets.token_hex(16), secrets.token_hex(16)
public, operator = (f"127.0.0.1:{free_port()}" for _ in range(2))
subprocess.run(["openssl", "genrsa", "-out", work / "forge.pem", "2048"], check=True, capture_output=True)
(work / "forge.pem").chmod(0o600)
settings = {
    "SVC_DATABASE": str(work / "svc.db"),
    "SVC_CONTROL_SOCKET": str(work / "svcd.sock"),
    "SVC_PUBLIC_LISTEN": public,
    "SVC_OPERATOR_LISTEN": operator,
    "SVC_OPERATOR_API_TOKEN_FILE": secret_file("operator.token", token),
    "SVC_OPERATOR_ACTOR_ID": "ops:fuzz",
    "SVC_WEBHOOK_SECRET_FILE": secret_file("webhook.secret", webhook_secret),
    "SVC_FORGE_PRIVATE_KEY_FILE": str(work / "forge.pem"),
    "SVC_FORGE_APP_ID": "1",
    # No server listens there, so that every effect becomes a dead letter.
    "SVC_FORGE_API_URL": "http://127.0.0.1:9",
    "SVC_RETRY_ATTEMPTS": "1",
    "SVC_RESULT_SECRET_FILE": secret_file("result.secret", secrets.token_hex(16)),
    "SVC_MCP": "true",
    "MCP_V2_EXPERIMENTAL": "true",
    "SVC_MCP_PEER_RATE": "1000",
    "SVC_MCP_SUBJECT_RATE": "1000",
    "SVC_RELAY": "true",
    "SVC_RELAY_LOCAL": "true",
    "SVC_RELAY_TOOL_ORIGINS": "https://design.penpot.app",
    "SVC_LOG_FORMAT": "json",
}


def start_release():
    """Starts a release, whose first effect dies. Returns the ids that requests may name."""
    body = json.dumps({
        "ref": "refs/tags/v1.0.0", "after": "1" * 40, "deleted": False,
        "repository": {"id": 7, "full_name": "acme/app"}, "installation": {"id": int(INSTALLATION)},
    }).encode()
    digest = hmac.new(webhook_secret.encode(), body, hashlib.sha256).hexdigest()
    answer(f"http://{public}/webhooks/forge", body, {
        "Content-Type": "application/json", "X-GitHub-Event": "push", "X-GitHub-Delivery": str(uuid.uuid4()),
        "X-Hub-Signature-256": f"sha256={digest}",
    })
    base = f"http://{operator}/api/v1/operator/installations/{INSTALLATION}"
    bearer = {"Authorization": f"Bearer {token}"}

    def first(name):
        items = answer(f"{base}/{name}", headers=bearer)["items"]
        return items[0] if items else None

    letter = wait_for("a dead letter", lambda: first("dead-letters"))
    return {
        "installationId": INSTALLATION, "itemType": letter["itemType"], "itemId": letter["itemId"],
        "releaseRunId": first("releases")["releaseRunId"],
    }


def with_examples(value, ids):
    """Returns the description with these values as the examples of the path parameters of their names."""
    if isinstance(value, list):
        return [with_examples(item, ids) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("in") == "path" and value.get("name") in ids:
        return {**value, "example": ids[value["name"]]}
    return {key: with_examples(item, ids) for key, item in value.items()}


def fuzz(surface, url, ids):
    """Fuzzes a surface. Returns how many requests it answered, and whether all answers were as described."""
    paths = {}
    for path, operations in description["paths"].items():
        theirs = {method: it for method, it in operations.items() if surface in it["x-surfaces"]}
        if theirs:
            paths[path] = theirs
    document = work / f"{surface}.json"
    document.write_text(json.dumps(with_examples({**description, "paths": paths}, ids)))
    command = [
        environment / "bin/schemathesis", "--config-file", HERE / "schemathesis.toml", "run", document, "--url", url,
        "--phases", PHASES[surface], "--seed", SEED, "--max-examples", EXAMPLES, "--generation-database", "none", "--no-color",
        "--report", "ndjson", "--report-ndjson-path", work / f"{surface}.ndjson",
    ]
    if surface != "public":
        command += ["--header", f"Authorization: Bearer {token}"]
    child = {
        **os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE), "FUZZ_WEBHOOK_SECRET": webhook_secret,
    }
    ended = subprocess.run(command, cwd=work, env=child, capture_output=True, text=True, check=False)
    print(f"== {surface}\n{ended.stdout}{ended.stderr}" if ended.returncode else f"== {surface}: as described", flush=True)
    count = re.search(r"(\d+) generated", ended.stdout)
    return int(count[1]) if count else 0, ended.returncode == 0


with open(work / "log", "w") as log:
    daemon = subprocess.Popen([programs / "svcd"], env=settings, stderr=log)
try:
    wait_for("the daemon", lambda: answer(f"http://{public}/health/ready"))
    ids = start_release()
    forwarder = Forwarder(work / "svcd.sock")
    surfaces = {
        "public": f"http://{public}", "operator": f"http://{operator}",
        "control": f"http://127.0.0.1:{forwarder.server_address[1]}",
    }
    # `localhost` is a name that each surface goes by.
    results = {surface: fuzz(surface, url.replace("127.0.0.1", "localhost"), ids) for surface, url in surfaces.items()}
    if daemon.poll() is not None:
        raise SystemExit("the daemon ended")
finally:
    daemon.terminate()
    daemon.wait()
panics = [line for line in (work / "log").read_text().splitlines() if "panic" in line]
if panics:
    raise SystemExit("\n".join(panics))
counts = {surface: count for surface, (count, _) in results.items()}
if sum(counts.values()) < CASES_MIN or not all(is_good for _, is_good in results.values()):
    raise SystemExit(f"failed: {results}")
print("ok ", ", ".join(f"{count} requests on {surface}" for surface, count in counts.items()), f"with seed {SEED}")
