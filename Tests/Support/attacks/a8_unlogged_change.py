#!/usr/bin/env python3
"""A8: a holder of the keys changes the vault and enters nothing. The log cannot stop that; its check has to count it."""
import lab


def check(lab_):
    """What the check says, without the number of entries: each check opens the vault, which is an entry of its own."""
    found = lab_.must_hold(lab_.ada.ctl("vault", "log", "--verify"), "the check").json["check"]
    return {key: value for key, value in found.items() if key != "count"}


def attack(lab_):
    lab_.members()
    before = check(lab_)
    if check(lab_) != before:
        raise lab.NotStaged("two checks without a change between them differ")
    mallory = lab_.mallory.open()
    mallory.add_item("db", "planted", b"1")
    mallory.delete_item("db", "planted")
    found = lab_.ada.ctl("vault", "log", "--verify")
    after = {key: value for key, value in found.json["check"].items() if key != "count"}
    lab_.hold(before != after, f"two writes without an entry show in the check: {before} became {after}")


if __name__ == "__main__":
    lab.run("A8: generations that have no entry in the log", attack)
