"""Runs one recorded scenario: its set-up, its steps in order, its cleanup, in a namespace of its own."""

from __future__ import annotations

import contextlib
import json
import secrets
import string
import time
from typing import Any, Callable

from api import Answer, Api
from matching import UnknownVariable, differences, pointer, substitute

PAUSE = 0.15  # seconds between two looks at something that is to change


class Failed(Exception):
    """A step did not go as recorded; the message says where and how."""


def run(api: Api, scenario: dict[str, Any], patience: float = 1) -> list[str]:
    """The differences found; an empty list when the scenario passed. The first step that differs ends it.

    patience: a factor of the times within which something is to come.
    """
    letters = string.ascii_lowercase + string.digits
    namespace = "ct-" + "".join(secrets.choice(letters) for _unused in range(6))
    run = _Run(api, {"ns": namespace}, patience)
    try:
        run.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        for index, entry in enumerate(scenario.get("setup", [])):
            run.setup(index, entry)
        for index, step in enumerate(scenario["steps"]):
            run.step(index, step)
    except Failed as failure:
        return [str(failure)]
    finally:
        run.cleanup(scenario.get("cleanup", []))
        api.send("DELETE", f"/api/v1/namespaces/{namespace}")
    return []


class _Run:
    def __init__(self, api: Api, variables: dict[str, str], patience: float) -> None:
        self._api = api
        self._variables = variables
        self._patience = patience

    def post(self, path: str, body: Any, save: dict[str, str] | None = None) -> None:
        answer = self._send({"method": "POST", "path": path, "body": body})
        if answer.code != 201:
            raise Failed(f"POST {path}: expected 201, found {answer.code}: {answer.text}")
        self._save(save, answer)

    def setup(self, index: int, entry: dict[str, Any]) -> None:
        try:
            self.post(entry["path"], entry["body"], entry.get("save"))
        except (Failed, LookupError, UnknownVariable) as failure:
            raise Failed(f"setup {index}: {failure}") from None

    def step(self, index: int, step: dict[str, Any]) -> None:
        kind = next(key for key in step if key not in ("note", "expect"))
        steps: dict[str, Callable[[Any], list[str]]] = {
            "request": lambda request: self._request(request, step["expect"]),
            "eventually": self._eventually,
            "never": self._never,
            "list": self._list,
            "settle": self._settle,
            "wait": self._wait,
        }
        found = steps[kind](step[kind])
        if found:
            argument = step[kind]
            target = f"{argument.get('method', 'GET')} {argument['path']}" if isinstance(argument, dict) else ""
            note = f" ({step['note']})" if "note" in step else ""
            raise Failed("\n    ".join([f"step {index}{note}: {kind} {target}", *found]))

    def cleanup(self, entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            # The scenario may have ended before a variable was saved.
            with contextlib.suppress(UnknownVariable):
                self._send(entry)

    def _send(self, request: dict[str, Any]) -> Answer:
        request = substitute(request, self._variables)
        return self._api.send(
            request["method"],
            request["path"],
            body=request.get("body"),
            text=request.get("text"),
            content_type=request.get("contentType", "application/json"),
            headers=request.get("headers"),
            user=request.get("as"),
        )

    def _save(self, save: dict[str, str] | None, answer: Answer) -> None:
        for name, path in (save or {}).items():
            value = pointer(answer.body, path)
            self._variables[name] = value if isinstance(value, str) else json.dumps(value)

    def _request(self, request: dict[str, Any], expect: dict[str, Any]) -> list[str]:
        return self._compare(self._send(request), expect)

    def _compare(self, answer: Answer, expect: dict[str, Any]) -> list[str]:
        if answer.code != expect.get("code", 200):
            return [f"expected code {expect.get('code', 200)}, found {answer.code}: {answer.text[:2000]}"]
        found = []
        try:
            self._save(expect.get("save"), answer)
            if "body" in expect:
                found += differences(substitute(expect["body"], self._variables), answer.body)
            if "text" in expect:
                found += differences(substitute(expect["text"], self._variables), answer.text)
            if "warnings" in expect:
                wanted = {"$set": substitute(expect["warnings"], self._variables)}
                found += differences(wanted, answer.warnings, "/warnings")
        except UnknownVariable as error:
            found.append(str(error))
        except LookupError as error:
            found.append(f"nothing to save at {error}: {answer.text[:2000]}")
        return found

    def _within(self, step: dict[str, Any]) -> float:
        """The seconds within which what the step looks for has to come."""
        return float(step.get("within", 20)) * self._patience

    def _get(self, step: dict[str, Any]) -> Answer:
        return self._send({"method": "GET", **{key: step[key] for key in ("path", "as") if key in step}})

    def _eventually(self, step: dict[str, Any]) -> list[str]:
        return self._until(step, lambda answer: self._compare(answer, step))

    def _until(self, step: dict[str, Any], compare: Callable[[Answer], list[str]]) -> list[str]:
        end = time.monotonic() + self._within(step)
        while True:
            found = compare(self._get(step))
            if not found or time.monotonic() > end:
                return found
            time.sleep(PAUSE)

    def _never(self, step: dict[str, Any]) -> list[str]:
        end = time.monotonic() + step["for"]
        while time.monotonic() < end:
            answer = self._get(step)
            if not self._compare(answer, step):
                return [f"should not have come: {answer.text[:2000]}"]
            time.sleep(PAUSE)
        return []

    def _list(self, step: dict[str, Any]) -> list[str]:
        def compare(answer: Answer) -> list[str]:
            if answer.code != 200:
                return [f"expected code 200, found {answer.code}: {answer.text[:2000]}"]
            items = answer.body["items"]
            found = []
            if "names" in step:
                wanted = {"$set": substitute(step["names"], self._variables)}
                found += differences(wanted, [item["metadata"]["name"] for item in items], "/names")
            if "count" in step:
                found += differences(step["count"], len(items), "/count")
            if "items" in step:
                found += differences(substitute(step["items"], self._variables), items, "/items")
            return found

        return self._until(step, compare)

    def _settle(self, step: dict[str, Any]) -> list[str]:
        version, since = None, time.monotonic()
        end = since + self._within(step)
        while True:
            answer = self._get(step)
            if answer.code != 200:
                return [f"expected code 200, found {answer.code}: {answer.text[:2000]}"]
            now = time.monotonic()
            if answer.body["metadata"]["resourceVersion"] != version:
                version, since = answer.body["metadata"]["resourceVersion"], now
            if now - since >= step["quiet"]:
                return self._compare(answer, {"save": step.get("save")})
            if now > end:
                return [f"still changing, resourceVersion {version}"]
            time.sleep(PAUSE)

    def _wait(self, seconds: float) -> list[str]:
        time.sleep(seconds)
        return []
