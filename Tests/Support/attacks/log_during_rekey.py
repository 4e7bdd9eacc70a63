#!/usr/bin/env python3
"""No attack: a program opens the vault just before a rekey and enters that into the access log just after it. The log stays whole.

        service                              ada
        opens the vault, period 1
        (stopped before the access log)
                                             vault rekey, and an entry with the new log key
        goes on, and enters `opened`
                                             vault log --verify: intact"""
import os
import shutil
import signal
import subprocess
import time

import lab

LIMIT = 60


def traced(lab_, actor, words, *options):
    command = ["strace", "-f", *options, lab_.sealctl, *words, "--json", "--no-input", *actor.options]
    return subprocess.Popen(command, env=actor.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ordinal(lab_, actor, words):
    """Which of the program's calls of openat2 opens the lock of the access log."""
    trace = lab_.base / "trace"
    process = traced(lab_, actor, words, "-e", "trace=openat2", "-o", str(trace))
    process.communicate(timeout=LIMIT)
    if process.returncode != 0:
        raise lab.NotStaged("strace cannot trace here")
    calls = [line for line in trace.read_text().splitlines() if "openat2(" in line]
    if not any('"' in line for line in calls):
        raise lab.Skipped("needs the right to read the memory of a traced program that is not dumpable")
    return next(number for number, line in enumerate(calls, 1) if '".access.lock"' in line)


def stopped_child(process):
    """The traced program, once it has been stopped."""
    until = time.monotonic() + LIMIT
    while time.monotonic() < until and process.poll() is None:
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            stopped = [child for child in map(int, file.read().split()) if stays_stopped(child)]
        if stopped:
            return stopped[0]
        time.sleep(0.01)
    raise lab.NotStaged("the program did not stop before the access log")


def stays_stopped(child):
    """Whether it is stopped by the signal, and not for a moment at one of its calls."""
    for _ in range(20):
        time.sleep(0.01)
        try:
            with open(f"/proc/{child}/stat") as stat:
                state = stat.read().rpartition(")")[2].split()[0]
        except FileNotFoundError:  # strace tries the kernel with children of its own
            return False
        if state not in "tT":
            return False
    return True


def attack(lab_):
    if not shutil.which("strace"):
        raise lab.Skipped("needs strace")
    lab_.members()
    for what, words in (("opens the vault", ["vault", "list"]), ("reads an item", ["vault", "find", "-s", "db", "-a", "robot", "-w"])):
        lab_.must_hold(lab_.service.ctl(*words), "the service has renewed its slot")
        number = ordinal(lab_, lab_.service, words)
        process = traced(lab_, lab_.service, words, "-o", "/dev/null", "-e", "trace=openat2", "-e", f"inject=openat2:signal=SIGSTOP:when={number}")
        child = None
        try:
            child = stopped_child(process)
            lab_.must_hold(lab_.ada.ctl("vault", "rekey", "--yes"), "ada rekeys")
            lab_.must_hold(lab_.mallory.ctl("vault", "list"), "another service enters its opening with the new key")
            os.kill(child, signal.SIGCONT)
            process.communicate(timeout=LIMIT)
        finally:
            if process.poll() is None:
                if child:
                    os.kill(child, signal.SIGKILL)
                process.kill()
                process.communicate()
        lab_.hold(process.returncode == 0, f"the service {what}: status {process.returncode}")
        found = lab_.ada.ctl("vault", "log", "--verify")
        lab_.hold(found.status == 0, f"the service {what} while ada rekeys: the log is intact: {found}, {found.json['check']}")


if __name__ == "__main__":
    lab.run("the access log while a rekey is made", attack)
