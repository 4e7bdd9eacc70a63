#!/usr/bin/env python3
"""No attack: a user whose disk quota is used up (EDQUOT) signs out. A record, a setting and an item are deleted with the reserve.

A library that is loaded before the C library plays the quota: no file gets another block, no new file an inode."""
import os
import subprocess

import lab

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int has(const char *what) { const char *quota = getenv("QUOTA"); return quota && strstr(quota, what); }
static int is_device(dev_t device) { const char *number = getenv("QUOTA_DEVICE"); return number && (dev_t)strtoull(number, 0, 10) == device; }
static long real(long number, long a, long b, long c, long d, long e, long f) {
    static long (*found)(long, ...);
    if (!found) found = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return found(number, a, b, c, d, e, f);
}

/* Whether a file would need another block, or under "bytes" any byte more. */
static int grows(int file, off_t end) {
    struct stat facts;
    if (fstat(file, &facts) || !S_ISREG(facts.st_mode) || !is_device(facts.st_dev)) return 0;
    return (has("bytes") && end > facts.st_size) || (has("blocks") && end > facts.st_blocks * 512);
}

/* Whether an opening would make a file. */
static int makes(int directory, const char *path, unsigned long long flags) {
    struct stat facts;
    if (!has("inodes")) return 0;
    if ((flags & O_TMPFILE) == O_TMPFILE) return !fstatat(directory, path, &facts, 0) && is_device(facts.st_dev);
    if (!(flags & O_CREAT) || !fstatat(directory, path, &facts, AT_SYMLINK_NOFOLLOW)) return 0;
    return directory == AT_FDCWD || (!fstat(directory, &facts) && is_device(facts.st_dev));
}

static int refuse(void) { errno = EDQUOT; return -1; }

long syscall(long number, ...) {
    va_list list;
    long a[6];
    va_start(list, number);
    for (int at = 0; at < 6; at++) a[at] = va_arg(list, long);
    va_end(list);
    if (number == SYS_openat2 && makes((int)a[0], (const char *)a[1], ((struct open_how *)a[2])->flags)) return refuse();
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
static int opened(int directory, const char *path, int flags, mode_t mode) {
    return makes(directory, path, (unsigned)flags) ? refuse() : (int)real(SYS_openat, directory, (long)path, flags, mode, 0, 0);
}
#define MODE mode_t mode = 0; if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) { va_list list; va_start(list, flags); mode = va_arg(list, mode_t); va_end(list); }
int openat(int directory, const char *path, int flags, ...) { MODE return opened(directory, path, flags, mode); }
int openat64(int directory, const char *path, int flags, ...) { MODE return opened(directory, path, flags | O_LARGEFILE, mode); }
int open(const char *path, int flags, ...) { MODE return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int mkdirat(int directory, const char *path, mode_t mode) {
    struct stat facts;
    if ((has("blocks") || has("inodes")) && fstatat(directory, path, &facts, AT_SYMLINK_NOFOLLOW)) return refuse();
    return (int)real(SYS_mkdirat, directory, (long)path, mode, 0, 0, 0);
}
int fallocate(int file, int mode, off_t start, off_t size) {
    return grows(file, start + size) ? refuse() : (int)real(SYS_fallocate, file, mode, start, size, 0, 0);
}
int posix_fallocate(int file, off_t start, off_t size) {
    if (grows(file, start + size)) return EDQUOT;
    return real(SYS_fallocate, file, 0, start, size, 0, 0) < 0 ? errno : 0;
}
ssize_t write(int file, const void *bytes, size_t size) {
    int flags = fcntl(file, F_GETFL);
    struct stat facts;
    off_t at = flags >= 0 && flags & O_APPEND && !fstat(file, &facts) ? facts.st_size : lseek(file, 0, SEEK_CUR);
    return at >= 0 && grows(file, at + (off_t)size) ? refuse() : real(SYS_write, file, (long)bytes, (long)size, 0, 0, 0);
}
ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) {
    return grows(file, at + (off_t)size) ? refuse() : real(SYS_pwrite64, file, (long)bytes, (long)size, at, 0, 0);
}
"""

SHORTAGES = {"no block is left": "blocks", "no inode is left": "inodes", "neither is left": "blocks inodes",
             "no file may grow by a byte": "blocks inodes bytes"}
SUITE = lab.GROUP


def library(lab_):
    source, made = lab_.base / "quota.c", lab_.base / "quota.so"
    source.write_text(SOURCE)
    try:
        built = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"], capture_output=True)
    except FileNotFoundError:
        raise lab.Skipped("needs a C compiler")
    if built.returncode != 0:
        raise lab.NotStaged(built.stderr.decode(errors="replace"))
    return made


class Limited:
    """A user, and what that user's programs do with the quota used up."""

    def __init__(self, lab_, actor):
        self.lab, self.actor, self.library, self.quota = lab_, actor, library(lab_), ""
        environment = actor.environment
        actor.environment = lambda: environment() | self.variables()

    def variables(self):
        return {"LD_PRELOAD": str(self.library), "QUOTA": self.quota, "QUOTA_DEVICE": str(os.stat(self.lab.home).st_dev)} if self.quota else {}

    def ctl(self, quota, *words, **options):
        self.quota = quota
        try:
            return self.actor.ctl(*words, **options)
        finally:
            self.quota = ""


def inode(path):
    return path.stat().st_ino if path.exists() else None


def deletions(lab_, user, what, quota):
    container, tag = lab_.home / "Containers" / lab.GROUP, quota.replace(" ", "-")
    reserve, vault_reserve = container / f".sealedstate.reserve.{os.geteuid()}", lab_.vault / f".reserve.{os.geteuid()}"
    first, second = f"session/{tag}", f"session/{tag}-2"
    for name in (first, second):
        lab_.must_hold(user.actor.put(name, {"token": name}), "a record")
    for account in (tag, tag + "-2"):
        lab_.must_hold(user.actor.add("session", account, b"token"), "an item")
    lab_.hold(reserve.exists() and vault_reserve.exists(), f"{what}: there is a reserve in the container and in the vault's directory")

    refused = user.ctl(quota, "put", f"new/{tag}", "-", data=b'"' + b"x" * 9000 + b'"')
    lab_.refuse(refused, f"{what}: a new record", "quotaExceeded")
    kept = inode(reserve)
    found = user.ctl(quota, "delete", first)
    lab_.hold(found.status == 0, f"{what}: a record is deleted: {found}")
    lab_.hold(inode(lab_.record(first)) == kept, f"{what}: the reserve has taken its place")
    for actor in (user.actor, lab_.ada):
        lab_.refuse(actor.get(first), f"{what}: the deleted record, for {actor.name}", "absent")
    # A deletion needs a reserve, and there is none until something can be written again.
    before = lab_.record(second).read_bytes()
    lab_.refuse(user.ctl(quota, "delete", second), f"{what}: another record, without a reserve", "quotaExceeded")
    lab_.hold(lab_.record(second).read_bytes() == before, f"{what}: which stands as it was")

    kept = inode(vault_reserve)
    found = user.ctl(quota, "vault", "delete", "-s", "session", "-a", tag)
    lab_.hold(found.status == 0, f"{what}: an item is deleted: {found}")
    lab_.hold(inode(lab_.vault / "vault") == kept, f"{what}: the vault's reserve has taken the place of `vault`")
    if "blocks" not in quota or "bytes" in quota:  # else it depends on the room in the log's last block
        lab_.hold(found.status == 0 and found.json["isLogged"] == ("bytes" not in quota), f"{what}: the result says whether it is logged: {found}")
    for actor in (user.actor, lab_.ada):
        lab_.refuse(actor.find("session", tag), f"{what}: the deleted item, for {actor.name}", "itemNotFound")

    lab_.must_hold(user.actor.put(f"new/{tag}", {"room": True}), "a write with room again")
    lab_.must_hold(user.actor.add("session", tag + "-3", b"token"), "an item with room again")
    lab_.hold(reserve.exists() and vault_reserve.exists(), f"{what}: with room again there is a reserve again")
    found = user.ctl(quota, "delete", second)
    lab_.hold(found.status == 0, f"{what}: the other record is deleted then: {found}")
    setting(lab_, user, what, quota, tag)


def setting(lab_, user, what, quota, tag):
    for key in ("token", "theme"):
        user.actor.must("defaults", "write", SUITE, f"{key}-{tag}", "value")
    found = user.ctl(quota, "defaults", "delete", SUITE, f"token-{tag}")
    lab_.hold(found.status == 0, f"{what}: a setting is deleted: {found}")
    lab_.hold(user.actor.ctl("defaults", "read", SUITE, f"token-{tag}").status != 0, f"{what}: it is gone")
    lab_.hold(user.actor.ctl("defaults", "read", SUITE, f"theme-{tag}").status == 0, f"{what}: another one of the suite is there")


def attack(lab_):
    lab_.members()
    user = Limited(lab_, lab_.service)
    for what, quota in SHORTAGES.items():
        deletions(lab_, user, what, quota)
    found = lab_.ada.ctl("vault", "log", "--verify")
    lab_.hold(found.status == 0, f"the log is whole: {found}")


if __name__ == "__main__":
    lab.run("deletions of a user whose quota is used up", attack)
