#!/usr/bin/env python3
"""Runs every attack program against $SEALCTL with a time limit each, and prints a table.

    SEALCTL=.build/debug/sealctl python3 run.py [NAME…]      all, or those whose names begin so; -v prints what each tried

Exit status: 0 every attack failed or was skipped, 1 one succeeded, 2 one could not be staged.
"""
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 300
ANSWERS = {0: "held", 1: "SUCCEEDED", 2: "not staged"}


def run(path):
    """(answer, what was printed). A program that does not end is killed with everything that it started."""
    process = subprocess.Popen([sys.executable, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        printed, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return "no end", process.communicate()[0]
    answer = ANSWERS.get(process.returncode, f"status {process.returncode}")
    return "skipped" if answer == "held" and "\n  skipped: " in printed else answer, printed


def main(arguments):
    verbose = "-v" in arguments
    names = [a for a in arguments if a != "-v"]
    programs = [p for p in sorted(HERE.glob("*.py")) if p.name not in ("lab.py", "run.py")]
    programs = [p for p in programs if not names or p.name.startswith(tuple(names))]
    answers = {}
    for path in programs:
        began = time.monotonic()
        answers[path.stem], printed = run(path)
        statements = sum(line.startswith("  held") for line in printed.splitlines())
        print(f"{path.stem:32} {answers[path.stem]:12} {statements:4} held  {time.monotonic() - began:6.1f} s", flush=True)
        for line in printed.splitlines():
            if verbose or not line.startswith("  held") and answers[path.stem] != "held":
                print("    " + line)
    counts = {a: list(answers.values()).count(a) for a in sorted(set(answers.values()))}
    print(", ".join(f"{n} {a}" for a, n in counts.items()) or "no programs")
    return 1 if "SUCCEEDED" in counts else 0 if counts and set(counts) <= {"held", "skipped"} else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
