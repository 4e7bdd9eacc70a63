#!/usr/bin/env python3
"""No attack: a program of every kind of slot runs through rekeys and reads what is written after them, without being started again."""
import json
import os
import queue
import subprocess
import threading

import lab
from lab import format2 as f

LIMIT = 60


class Watching:
    """`sealctl watch` of the record `open`, for as long as the attack runs."""

    def __init__(self, lab_, actor):
        self.lines = queue.Queue()
        command = [lab_.sealctl, "watch", "open", "--json", "--values", "--no-input", *actor.options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=actor.environment(), text=True)
        threading.Thread(target=self.collect, daemon=True).start()

    def collect(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def sees(self, value):
        """Whether a line with the value comes; whatever else happened to the record is passed over."""
        try:
            while (line := self.lines.get(timeout=LIMIT)) is not None:
                if json.loads(line).get("value") == value:
                    return True
        except queue.Empty:
            pass
        return False

    def end(self):
        self.process.terminate()
        return self.process.wait(timeout=LIMIT)

    def rest(self):
        """The values of all lines that are left of a program that has ended."""
        return [json.loads(line).get("value") for line in iter(lambda: self.lines.get(timeout=LIMIT), None)]


def programs(lab_):
    """What opens the vault by itself: a key file, a system credential, an unattended identity; and persons' programs."""
    folder = lab_.base / "credentials"
    folder.mkdir()
    os.environ["CREDENTIALS_DIRECTORY"] = str(folder)
    key = f.random(32)
    (folder / "unit").write_text(f.key_file_text(key))
    (folder / "unit").chmod(0o600)
    unit = lab.Actor(lab_, "unit", ["--credential", "unit"], f.Credential.credential(key))
    lab_.ada.must("vault", "slot", "add", "--new-credential", "unit")
    robot = lab_.person("robot")
    lab_.ada.must("vault", "slot", "add", "--recipient", lab_.recipient(robot), "--unattended")
    carol = lab_.rememberer("carol", "correct horse")
    lab_.ada.must("vault", "slot", "add", "--new-passphrase-file", carol.file, "--unlock-time", "1ms")
    return {"a key file": lab_.service, "a system credential": unit, "an unattended identity": robot, "a person's identity": lab_.bob,
            "a person's passphrase": carol}


def attack(lab_):
    lab_.members()
    actors = programs(lab_)
    running = {kind: Watching(lab_, actor) for kind, actor in actors.items()}
    gone = Watching(lab_, lab_.mallory)
    try:
        for kind, program in [*running.items(), ("a service that is removed", gone)]:
            lab_.hold(program.sees({"class": 1}), f"{kind}: the program runs")
        for period, words in ((2, ["--remove-slot", str(lab_.slot_of(lab_.mallory))]), (3, [])):
            lab_.must_hold(lab_.ada.ctl("vault", "rekey", *words, "--yes"), f"the rekey to period {period}")
            lab_.must_hold(lab_.ada.put("open", {"period": period}), "a record after it")
            for kind, program in running.items():
                lab_.hold(program.sees({"period": period}), f"{kind}: it reads what was written in period {period}")
                lab_.hold(program.process.poll() is None, f"{kind}: it runs on in period {period}")
        for kind, actor in actors.items():
            lab_.answer(actor.get("open"), b'{"period": 3}', f"{kind}: the next program opens")
            lab_.hold(not actor.open().slot.form, f"{kind}: its slot has its own form again")
            lab_.hold(running[kind].end() == 0, f"{kind}: it ends well")
        gone.end()
        values = gone.rest()
        lab_.hold(not any(values), f"the program of the service that was removed reads nothing new: {values}")
    finally:
        for program in [*running.values(), gone]:
            program.process.kill()
            program.process.wait()


if __name__ == "__main__":
    lab.run("programs of every kind of slot run through rekeys", attack)
