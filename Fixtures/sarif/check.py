#!/usr/bin/env python3
"""Checks a report of `sealctl audit` against the report that it was made from.

    python3 Fixtures/sarif/check.py FORMAT REPORT.json OUTPUT

Prints what is wrong with OUTPUT, a line for each fault; exit status 1 if there is any. Written against the formats'
specifications alone; it knows nothing of the program.
"""
import base64
import csv
import hashlib
import html.parser
import io
import json
import pathlib
import re
import sys
import unicodedata
import xml.etree.ElementTree as xml

SEVERITIES = ["critical", "high", "medium", "low", "info"]
faults = []


def expect(condition, text):
    if not condition:
        faults.append(text)


def printable(text):
    """As file names are shown: controls and what nobody sees are escaped."""
    def is_control(code):
        return (code <= 0x1F or 0x7F <= code <= 0x9F or code in (0x61C, 0xFEFF) or 0x200B <= code <= 0x200F
                or 0x2028 <= code <= 0x202E or 0x2060 <= code <= 0x206F or 0xE0000 <= code <= 0xE007F)
    return "".join("\\u{%x}" % ord(c) if is_control(ord(c)) else c for c in text)


def no_controls(text, allowed="\n"):
    bad = {c for c in text if unicodedata.category(c) in ("Cc", "Cf") and c not in allowed}
    expect(not bad, "control characters: %r" % sorted(bad)[:5])


def table(report, text):
    no_controls(text)
    if not report["findings"]:
        expect("no findings" in text, "an empty report does not say so")
    for finding in report["findings"]:
        expect(printable(finding["path"]) in text, "no path %r" % finding["path"])


def as_json(report, text):
    got = json.loads(text)
    expect(text.count("\n") == 1, "more than one line")
    for key in ("containerPath", "group", "withKeys", "notes", "omissions"):
        expect(got[key] == report[key], "%s differs" % key)
    expect(sorted(got["counts"]) == sorted(SEVERITIES), "not every severity is counted")
    unlisted = sum(entry["count"] for entry in report["omissions"]["unlisted"])
    expect(sum(got["counts"].values()) == len(report["findings"]) + unlisted, "wrong counts")
    same_findings(report, got["findings"])
    expect(len(got["files"]) == len(report["files"]), "wrong number of files")


def same_findings(report, got):
    def rows(findings):
        return sorted(json.dumps([f["id"], f["severity"], f["path"], f["detail"], f["remedy"], f["title"]])
                      for f in findings)
    expect(rows(got) == rows(report["findings"]), "the findings differ")


def jsonl(report, text):
    lines = [json.loads(line) for line in text.split("\n")[:-1]]
    expect(lines[0]["type"] == "audit" and lines[-1]["type"] == "summary", "no head or no end")
    same_findings(report, [line for line in lines if line["type"] == "finding"])
    expect(len([line for line in lines if line["type"] == "file"]) == len(report["files"]), "wrong number of files")


def sarif(report, text):
    expect(len(text) < 10_000_000, "larger than 10 MB")
    log = json.loads(text)
    try:
        import jsonschema
        schema = json.loads((pathlib.Path(__file__).parent / "sarif-schema-2.1.0.json").read_text())
        for error in list(jsonschema.Draft4Validator(schema).iter_errors(log))[:10]:
            faults.append("schema: %s at %s" % (error.message[:200], list(error.absolute_path)))
    except ImportError:
        print("jsonschema is not installed: the schema was not used", file=sys.stderr)
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    results = run["results"]
    expect(len(results) == min(5000, len(report["findings"])), "wrong number of results")
    expect(len({rule["id"] for rule in rules}) == len(rules) <= 25_000, "rules are not unique")
    for rule in rules:
        expect(0 < len(rule["shortDescription"]["text"]) <= 1024, "shortDescription of %s" % rule["id"])
        expect(0 < len(rule["fullDescription"]["text"]) <= 1024, "fullDescription of %s" % rule["id"])
        expect(len(rule["properties"]["tags"]) <= 10 and "security" in rule["properties"]["tags"], "tags")
        severity = float(rule["properties"].get("security-severity", "0.1"))
        expect(0 < severity <= 10, "security-severity of %s" % rule["id"])
        expect(re.fullmatch(r"https://[A-Za-z0-9./-]+", rule.get("helpUri", "https://a")), "helpUri")
    for result in results:
        expect(rules[result["ruleIndex"]]["id"] == result["ruleId"], "ruleIndex")
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        expect(re.fullmatch(r"[A-Za-z0-9%/._~:-]+", uri), "uri %r" % uri)
    prints = [json.dumps(result["partialFingerprints"], sort_keys=True) for result in results]
    expect(len(set(prints)) == len(prints), "partial fingerprints are not unique")
    hashes = [result["partialFingerprints"]["primaryLocationLineHash"] for result in results]
    expect(len(set(hashes)) == len(hashes), "hashes are not unique")


def junit(report, text):
    root = xml.fromstring(text.encode())
    expect(root.tag == "testsuites", "no testsuites")
    cases = root.findall("./testsuite/testcase")
    failures = root.findall("./testsuite/testcase/failure")
    expect(int(root.get("tests")) == len(cases) > 0, "wrong number of tests")
    expect(int(root.get("failures")) == len(failures), "wrong number of failures")
    for suite in root:
        expect(int(suite.get("tests")) == len(suite.findall("testcase")), "wrong number in %s" % suite.get("name"))
    counted = [f for f in report["findings"] if f["severity"] != "info"]
    listed = [f for f in failures if "not listed" not in f.get("message")]
    expect(len(listed) == len(counted), "%d failures of %d findings" % (len(listed), len(counted)))
    for case in cases:
        expect(case.get("classname") and case.get("name"), "a case without a name")


def as_csv(report, text):
    expect(text.endswith("\r\n"), "the last row has no end")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    head = rows[0]
    expect(all(len(row) == len(head) for row in rows), "rows differ in length")
    expect(len(rows) - 1 == len(report["findings"]), "wrong number of rows")
    for row in rows[1:]:
        for cell in row:
            expect(cell.lstrip(" ")[:1] not in ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20"),
                   "a formula: %r" % cell)
            no_controls(cell, "")
    paths = sorted(row[head.index("path")].removeprefix("'") for row in rows[1:])
    expect(paths == sorted(printable(f["path"]) for f in report["findings"]), "the paths differ")


class Page(html.parser.HTMLParser):
    VOID = {"meta", "input", "br", "wbr", "link", "img"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.tags, self.text, self.links, self.rects, self.ids, self.boxes = [], [], [], [], [], [], []
        self.items = 0

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append(tag)
        for name in attributes:
            expect(not name.startswith("on") and name not in ("style", "src", "srcdoc", "action"), "attribute " + name)
        if "href" in attributes:
            self.links.append(attributes["href"])
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "svg" and attributes.get("class") in ("wide", "narrow"):
            self.boxes.append([float(number) for number in attributes["viewbox"].split()])
        if tag == "rect" and "x" in attributes:
            self.rects.append((len(self.boxes), {k: float(attributes[k]) for k in ("x", "y", "width", "height")}))
        if tag == "li" and "data-n" in attributes:
            self.items += int(attributes["data-n"])
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        expect(self.stack and self.stack[-1] == tag, "</%s> closes %s" % (tag, self.stack[-1:]))
        if self.stack:
            self.stack.pop()

    def handle_data(self, data):
        if self.stack and self.stack[-1] not in ("style", "script"):
            self.text.append(data)


def as_html(report, text):
    page = Page()
    page.feed(text)
    page.close()
    expect(not page.stack, "open at the end: %s" % page.stack)
    expect(page.tags.count("script") == 1 and page.tags.count("style") == 1, "scripts or styles")
    known = {"html", "head", "meta", "title", "style", "body", "header", "div", "p", "svg", "path", "button", "span", "h1",
             "wbr", "main", "section", "h2", "dl", "dt", "dd", "rect", "b", "circle", "text", "ul", "li", "i", "g", "a", "em",
             "form", "input", "fieldset", "legend", "label", "output", "article", "h3", "code", "details", "summary", "table",
             "thead", "tbody", "tr", "th", "td", "footer", "script"}
    expect(set(page.tags) <= known, "tags %s" % (set(page.tags) - known))
    expect(len(set(page.ids)) == len(page.ids), "an id twice")
    for link in page.links:
        expect(re.fullmatch(r"#[a-z]+|https://mas\.owasp\.org/[A-Za-z0-9/-]+", link), "link %r" % link)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
    expect("default-src 'none'" in policy and "unsafe" not in policy, "policy")
    for tag in ("style", "script"):
        body = re.search(r"<%s>(.*?)</%s>" % (tag, tag), text, re.S).group(1)
        digest = "sha256-" + base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        expect("%s-src '%s'" % (tag, digest) in policy, "the %s's hash is %s" % (tag, digest))
        expect("@import" not in body and "url(" not in body and "fetch(" not in body, "the %s loads something" % tag)
    no_controls(text)
    shown = "".join(page.text)
    expect(page.items == len(report["findings"]), "%d findings are shown" % page.items)
    for finding in report["findings"]:
        expect(printable(finding["path"]).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd") in shown,
               "no path %r" % finding["path"])
    for number, rect in page.rects:
        box = page.boxes[number - 1]
        inside = (rect["x"] > -0.2 and rect["y"] > -0.2 and rect["x"] + rect["width"] < box[2] + 0.2
                  and rect["y"] + rect["height"] < box[3] + 0.2)
        expect(inside, "a tile lies outside: %s" % rect)


def main():
    form, source, output = sys.argv[1:4]
    report = json.loads(pathlib.Path(source).read_text())
    text = pathlib.Path(output).read_bytes().decode("utf-8", errors="strict")
    checks = {"table": table, "json": as_json, "jsonl": jsonl, "sarif": sarif, "junit": junit, "csv": as_csv, "html": as_html}
    checks[form](report, text)
    for fault in faults[:20]:
        print(fault)
    sys.exit(1 if faults else 0)


main()
