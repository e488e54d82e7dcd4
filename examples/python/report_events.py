#!/usr/bin/env python3
"""Reports events to Gantry as a device does, and reads them back as a user does.

Needs Python 3.9 or newer and nothing else. Settings come from the environment:

    GANTRY_URL       address of the service, for example http://localhost:4000
    GANTRY_KEY       API key of a sensor
    GANTRY_TOKEN     token of a user (auth.login); without it, nothing is read back

    GANTRY_URL=http://localhost:4000 GANTRY_KEY=... python3 report_events.py
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from datetime import datetime, timezone

ATTEMPTS = 5

# Statuses after which a request is repeated. Proxies send 502 and 504 when the service does not answer them.
TEMPORARY = (408, 429, 502, 503, 504)


class Refused(Exception):
    """The service refused a request. The problem is as in RFC 9457."""

    def __init__(self, problem):
        super().__init__(f"{problem['status']} {problem['title']}: {problem['detail']}")
        self.problem = problem


def problem_of(error):
    """The problem that an answer contains. Proxies answer with a page instead."""
    try:
        return json.loads(error.read())
    except (ValueError, http.client.HTTPException):
        return {"status": error.code, "title": error.reason, "detail": "this is not an answer of Gantry"}


def seconds_until_retry(error):
    retry_after = error.headers.get("Retry-After", "")
    return int(retry_after) if retry_after.isdigit() else 1


def call(method, path, secret, body=None):
    """Calls the service and returns its answer. Waits and repeats after a temporary failure."""
    request = urllib.request.Request(
        os.environ["GANTRY_URL"].rstrip("/") + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {secret}", "Content-Type": "application/json"},
    )
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with urllib.request.urlopen(request, timeout=35) as response:
                text = response.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            if error.code not in TEMPORARY or attempt == ATTEMPTS:
                raise Refused(problem_of(error)) from error
            time.sleep(seconds_until_retry(error))
        except (OSError, http.client.HTTPException):
            # The event may have been stored: it is repeated with the same idempotencyKey and stored once.
            if attempt == ATTEMPTS:
                raise
            time.sleep(attempt)


def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def main():
    key = os.environ["GANTRY_KEY"]
    heartbeat = call("POST", "/v1/heartbeat", key, {"firmware": "example 1.0"})
    print("status:", heartbeat["status"])

    event = {
        "eventType": "SPEED_DETECTION",
        "licensePlateNumber": "B AB 1234",
        "vehicleSpeed": 63.5,
        "timestamp": now(),
        "idempotencyKey": str(uuid.uuid4()),
        "strict": True,
    }
    stored = call("POST", "/v1/events", key, event)
    again = call("POST", "/v1/events", key, event)
    print("event:", stored["eventId"], "stored once:", stored == again)

    events = [
        {"eventType": "VEHICLE_DETECTION", "timestamp": now(), "idempotencyKey": str(uuid.uuid4())} for _ in range(3)
    ]
    batch = call("POST", "/v1/events", key, events)
    print("batch:", sum("eventId" in result for result in batch["results"]), "of 3 stored")

    try:
        call("POST", "/v1/events", key, {"eventType": "NONSENSE"})
    except Refused as refusal:
        print("refused:", refusal.problem["code"], refusal.problem["issues"][0]["path"])

    token = os.environ.get("GANTRY_TOKEN")
    if token:
        query = urllib.parse.urlencode({"licensePlateNumber": "B AB 1234", "take": 5})
        page = call("GET", f"/v1/events?{query}", token)
        print("found:", page["total"], page["events"][0]["id"] == stored["eventId"])


if __name__ == "__main__":
    try:
        main()
    except KeyError as missing:
        sys.exit(f"Set {missing.args[0]} in the environment")
    except Refused as refusal:
        sys.exit(str(refusal))
