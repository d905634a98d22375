"""An MCP server of the older protocol, without any library, that can misbehave. A script.

It is given one JSON object that says how; see the first lines of `main`. The method of every
message that it reads goes to the file ``log``, and what it does.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

HOW = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
STATE = {"ready": False, "calls": 0, "held": [], "tools": None, "turns": []}
KEYS = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
TOOLS = [
    {"name": "add", "inputSchema": NUMBERS, "annotations": {"readOnlyHint": True}},
    {"name": "click", "description": "Press a key.", "inputSchema": KEYS},
    {"name": "wait", "inputSchema": {"type": "object"}},
    {"name": "answer", "inputSchema": {"type": "object"}},
    {"name": "change", "inputSchema": {"type": "object"}},
]


def main():
    if HOW.get("stderr"):
        sys.stderr.write(HOW["stderr"])
        sys.stderr.flush()
    if HOW.get("stays"):  # ends for nobody
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if HOW.get("gate"):  # a child that waits for somebody to open the gate
        subprocess.Popen(["/bin/sh", "-c", "read line < " + HOW["gate"]], stdin=subprocess.DEVNULL)
    log("started")
    if HOW.get("go"):
        Path(HOW["go"]).read_text()  # until somebody has opened and closed it
    if "exits" in HOW:
        sys.exit(HOW["exits"])
    STATE["tools"] = HOW.get("tools", TOOLS)
    for line in sys.stdin:
        take(json.loads(line))
    log("ending")
    while HOW.get("stays"):
        time.sleep(3600)


def take(message):
    method = message.get("method")
    log(method)
    if HOW.get("silent"):
        return
    if method == "initialize":
        info = {"name": "raw", "version": "1"}
        version = HOW.get("version", message["params"]["protocolVersion"])
        capabilities = {"tools": {"listChanged": True}}
        result = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}
        answer(message, result)
    elif method == "notifications/initialized":
        STATE["ready"] = True
    elif method == "tools/list":
        answer(message, {"tools": STATE["tools"]})
    elif method == "tools/call":
        call(message)
    elif "id" in message and method is not None:
        send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})


def call(message):
    if not STATE["ready"]:
        send({"id": message["id"], "error": {"code": -32002, "message": "not initialised"}})
        return
    STATE["calls"] += 1
    if STATE["calls"] == HOW.get("dies_at"):
        sys.stdout.flush()
        os._exit(HOW.get("code", 3))
    if HOW.get("deaf"):  # reads no more
        time.sleep(3600)
    if HOW.get("closes"):
        os.close({"input": 0, "output": 1}[HOW["closes"]])
        log("closed")
        time.sleep(3600)
    if HOW.get("holds"):  # answers only when so many have come, the last one first
        STATE["held"].append(message)
        if len(STATE["held"]) == HOW["holds"]:
            for one in reversed(STATE["held"]):
                work(one)
            STATE["held"] = []
            if "then_exits" in HOW:
                os._exit(HOW["then_exits"])
        return
    work(message)


def work(message):
    name, args = message["params"]["name"], message["params"].get("arguments") or {}
    if HOW.get("flood"):
        sys.stderr.write("x" * 99 + "\n" * HOW["flood"])
        sys.stderr.write(("y" * 99 + "\n") * HOW["flood"])
        sys.stderr.flush()
    if name == "wait":
        log("waiting")
        return
    if name == "change":
        STATE["tools"] = args["tools"]
        send({"method": "notifications/tools/list_changed"})
    if name == "answer":  # whatever the call wants to be answered, word for word
        sys.stdout.write(args["line"].replace("ID", str(message["id"])) + "\n")
        sys.stdout.flush()
        return
    if name == "click" and HOW.get("slow"):
        threading.Thread(target=slow_click, args=(message, args)).start()
        return
    if name == "click":
        log(args["key"])
    text = str(args["a"] + args["b"]) if name == "add" else json.dumps(args)
    for _ in range(2 if HOW.get("twice") else 1):
        answer(message, {"content": [{"type": "text", "text": text}]})
        text = "a second answer"


def slow_click(message, args):
    """Press a key, but let a click that comes meanwhile go first: they must not come meanwhile."""
    turns, mine = STATE["turns"], threading.Event()
    turns.append(mine)
    place = len(turns)
    mine.wait(HOW["slow"])
    log(args["key"])
    if place > 1:
        turns[place - 2].set()
    answer(message, {"content": [{"type": "text", "text": "pressed"}]})


def answer(message, result):
    send({"id": message["id"], "result": result})


def send(message):
    if HOW.get("garbage"):
        sys.stdout.write("Listening ...\n\n{broken\n[1, 2]\n\x1b[31mred\x1b[0m\n")
        sys.stdout.flush()
        os.write(1, b"\xff\xfe\n")
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def log(text):
    if HOW.get("log"):
        with Path(HOW["log"]).open("a") as file:
            file.write(f"{text}\n")


main()
