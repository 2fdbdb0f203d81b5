"""What the fuzzer cannot know by itself: the signature over a body that it made up."""

import hashlib
import hmac
import os

import requests
import schemathesis

SECRET = os.environ["FUZZ_WEBHOOK_SECRET"].encode()


class Signature(requests.auth.AuthBase):
    """Signs the bytes that are sent."""

    def __call__(self, request):
        body = request.body or b""
        body = body.encode() if isinstance(body, str) else body
        if isinstance(body, bytes):
            digest = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
            request.headers["X-Hub-Signature-256"] = f"sha256={digest}"
        return request


schemathesis.auth.set_from_requests(Signature()).apply_to(path="/webhooks/forge")
