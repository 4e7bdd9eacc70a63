"""Text that holds one secret under its name, among harmless neighbours."""
import base64
import json
import plistlib
from xml.sax.saxutils import escape


def neighbours(random):
    return {
        "theme": "dark", "launchCount": random.randrange(1, 900), "lastVersion": "4.12.0",
        "deviceId": "6F9619FF-8B86-D011-B42D-00C04FC964FF", "onboardingDone": True,
    }


def one_line(value):
    return value.replace("\n", "\\n")


def env(random, name, value):
    return f"THEME=dark\nRETRIES=3\n{name}={one_line(value)}\nLOG_LEVEL=info\n".encode()


def ini(random, name, value):
    return f"[service]\nhost = api.example.com\n{name} = {one_line(value)}\ntimeout = 30\n".encode()


def yaml(random, name, value):
    if "\n" in value:
        body = "".join(f"    {line}\n" for line in value.splitlines())
        return f"service:\n  host: api.example.com\n  {name}: |\n{body}  timeout: 30\n".encode()
    return f"service:\n  host: api.example.com\n  {name}: \"{value}\"\n  timeout: 30\n".encode()


def log(random, name, value):
    noise = "".join(
        f"2026-11-21T10:00:{i:02d}Z INFO request id={random.getrandbits(64):016x} took {random.randrange(400)} ms\n"
        for i in range(20))
    return (noise + f"2026-11-21T10:01:00Z DEBUG sending {name}: {one_line(value)}\n" + noise).encode()


def xml(random, name, value):
    return f"<?xml version=\"1.0\"?>\n<settings>\n  <host>api.example.com</host>\n  <{name}>{escape(value)}</{name}>\n</settings>\n".encode()


def swift_source(random, name, value):
    return f"import Foundation\n\nenum Config {{\n    static let host = \"api.example.com\"\n    static let {name} = \"{one_line(value)}\"\n}}\n".encode()


def utf16(random, name, value):
    return b"\xff\xfe" + ini(random, name, value).decode().encode("utf-16-le")


def json_file(random, name, value):
    return json.dumps({**neighbours(random), "account": {"user": "ada", name: value}}, indent=2).encode()


def json_escaped(random, name, value):
    """Every slash and the first letter escaped, as some writers do."""
    text = json.dumps({"items": [{"id": 1}, {name: "\0" + value[1:]}]})
    return text.replace("\\u0000", f"\\u{ord(value[0]):04x}").replace("/", "\\/").encode()


def json_lines(random, name, value):
    rows = [{"event": "open", "at": i} for i in range(10)] + [{"event": "sign-in", name: value}]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def json_in_base64(random, name, value):
    inner = json.dumps({"user": "ada", name: value}).encode()
    return json.dumps({"state": base64.b64encode(inner).decode()}).encode()


def plist_in_base64(random, name, value):
    inner = plistlib.dumps({"user": "ada", name: value}, fmt=plistlib.FMT_BINARY)
    return json.dumps({"cache": {"blob": base64.b64encode(inner).decode()}}).encode()


CARRIERS = {
    "env": (".env", env), "ini": (".ini", ini), "yaml": (".yaml", yaml), "log": (".log", log), "xml": (".xml", xml),
    "source": (".swift", swift_source), "utf16": (".txt", utf16), "json": (".json", json_file),
    "json-escaped": (".json", json_escaped), "json-lines": (".jsonl", json_lines),
    "json-base64-json": (".json", json_in_base64), "json-base64-plist": (".json", plist_in_base64),
}
