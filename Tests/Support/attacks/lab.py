"""What the attack programs share: a home of its own for each attack, the victims' sealctl, and vault.py as the attacker's tool.

An attack program defines a function that stages its attack and calls `lab.hold` and `lab.refuse`, which state what must hold.
Exit status: 0 the attack failed, or it was skipped where the machine cannot have it; 1 it succeeded; 2 it could not be staged, so that
nothing is known.
"""
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "Fixtures" / "vectors"))
import vault as format2  # noqa: E402

GROUP = "group.com.example.app"
SHARED_GROUP = 64_100
SEALCTL = os.environ.get("SEALCTL", "sealctl")


class NotStaged(Exception):
    """The attack could not be made: neither held nor succeeded."""


class Skipped(Exception):
    """The machine lacks what the program needs: root, a tool."""


class Result:
    def __init__(self, process):
        self.status, self.out, self.err = process.returncode, process.stdout, process.stderr

    @property
    def code(self):
        """The code of the error, from the last line of standard error that is an object with one."""
        for line in reversed(self.err.decode(errors="replace").splitlines()):
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict) and "code" in found:
                return found["code"]
        return None

    @property
    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return f"status {self.status}, {self.code or self.out[:80]!r}"


class Actor:
    """A user of the vault: credential options for sealctl, and a home for watermarks, places and key files."""

    def __init__(self, lab, name, options, credential, uid=None):
        self.lab, self.name, self.options, self.credential, self.uid = lab, name, options, credential, uid
        self.home = lab.base / ("user-" + name)
        self.home.mkdir(mode=0o700, exist_ok=True)
        if uid is not None:
            os.chown(self.home, uid, SHARED_GROUP)

    def ctl(self, *words, data=b"", options=None, timeout=120):
        words = [str(w) for w in words]
        command = [self.lab.sealctl, *words, "--json", "--no-input", *(self.options if options is None else options)]
        if self.uid is not None:
            command = ["setpriv", f"--reuid={self.uid}", f"--regid={SHARED_GROUP}", "--clear-groups", *command]
        try:
            process = subprocess.run(command, input=data, capture_output=True, env=self.environment(), timeout=timeout)
        except subprocess.TimeoutExpired:
            raise NotStaged(f"{' '.join(words)} took more than {timeout} s")
        result = Result(process)
        self.lab.trace(f"{self.name}: {' '.join(words)}: {result}")
        return result

    def environment(self):
        runtime = self.home / "runtime"
        runtime.mkdir(mode=0o700, exist_ok=True)
        if self.uid is not None:
            os.chown(runtime, self.uid, SHARED_GROUP)
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "SEALED_GROUPS_HOME": str(self.lab.home), "SEALCTL_GROUP": GROUP,
                       "SEALED_USER_HOME": str(self.home), "XDG_RUNTIME_DIR": str(runtime), "SWIFT_BACKTRACE": "enable=no"}
        return environment | {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "CREDENTIALS_DIRECTORY") if name in os.environ}

    def must(self, *words, **options):
        """A step of the staging: its failure says nothing about the attack."""
        result = self.ctl(*words, **options)
        if result.status != 0:
            raise NotStaged(f"{self.name}: {' '.join(map(str, words))}: {result}\n{result.err.decode(errors='replace')}")
        return result

    # what victims do

    def put(self, name, value, *options):
        return self.ctl("put", name, "-", *options, data=json.dumps(value).encode())

    def get(self, name):
        return self.ctl("get", name)

    def add(self, service, account, value, accessible=None):
        return self.ctl("vault", "add", "-s", service, "-a", account, *(["--accessible", accessible] if accessible else []), data=value)

    def update(self, service, account, value, *options):
        return self.ctl("vault", "update", "-s", service, "-a", account, *options, data=value)

    def find(self, service, account):
        """An item's value, byte for byte."""
        return self.ctl("vault", "find", "-s", service, "-a", account, "-w")

    def accept(self, fingerprint=None):
        return self.ctl("vault", "accept", "--fingerprint", fingerprint or self.lab.fingerprint())

    # what attackers do

    def open(self, **options):
        return format2.Vault.open(self.lab.vault, GROUP, self.credential, accept=True, **options)


def parent():
    """A directory that every user reaches: in memory, where no sync waits for a disk, if programs may be started there."""
    memory = pathlib.Path("/dev/shm")
    if os.access(memory, os.W_OK | os.X_OK) and not os.statvfs(memory).f_flag & os.ST_NOEXEC:
        return memory
    return "/srv" if os.geteuid() == 0 and os.path.isdir("/srv") else None


class Lab:
    def __init__(self, title):
        print(title)
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="attack-", dir=parent()))
        os.chmod(self.base, 0o755)
        self.sealctl = SEALCTL
        self.home = self.base / "home"
        self.home.mkdir()
        self.vault = self.home / "Vaults" / GROUP
        self.succeeded, self.held, self.steps = 0, 0, []

    def trace(self, line):
        self.steps.append(line)
        if os.environ.get("ATTACK_TRACE"):
            print("    " + line)

    # actors

    def key_holder(self, name, **options):
        key = format2.random(32)
        path = self.base / f"{name}.key"
        path.write_text(format2.key_file_text(key))
        return self.own(Actor(self, name, ["--key-file", str(path)], format2.Credential.key_file(key), **options), path)

    def person(self, name, **options):
        scalar = format2.random(32)
        path = self.base / f"{name}.id"
        path.write_text(format2.identity_text(scalar) + "\n")
        return self.own(Actor(self, name, ["--identity", str(path)], format2.Credential.identity(scalar), **options), path)

    def rememberer(self, name, words, **options):
        """A person with a passphrase."""
        path = self.base / f"{name}.words"
        path.write_text(words + "\n")
        return self.own(Actor(self, name, ["--passphrase-file", str(path)], format2.Credential.passphrase(words), **options), path)

    def own(self, actor, path):
        os.chmod(path, 0o600)
        if actor.uid is not None:
            os.chown(path, actor.uid, SHARED_GROUP)
        actor.file = path
        return actor

    # vaults

    def fingerprint(self):
        path = self.vault / "vault.person"
        role = format2.PERSON if path.exists() else format2.SERVICE
        file = format2.Compartment.parse((path if path.exists() else self.vault / "vault").read_bytes(), role)
        register = format2.Register.parse(file.register_raw)
        return format2.H(16, None, b"vfp2", register.vault_id + (register.team or register.persons[-1].public)).hex()

    def recipient(self, actor):
        return format2.recipient_text(format2.x25519_public(actor.credential.material))

    def members(self, share=False):
        """Ada, a person, makes the vault; a service, a second service that attacks later, and Bob, a person, get slots.
        Everybody has opened it once, and so has a memory of the place."""
        uids = iter(range(64_101, 64_110)) if share else iter([None] * 9)
        self.ada = self.person("ada", uid=next(uids))
        self.service = self.key_holder("service", uid=next(uids))
        self.mallory = self.key_holder("mallory", uid=next(uids))
        self.bob = self.person("bob", uid=next(uids))
        if share:
            # Other users may not reach the directory that it was built in.
            self.sealctl = str(shutil.copy(SEALCTL, self.base / "sealctl"))
            os.chown(self.home, 64_101, SHARED_GROUP)
            os.chmod(self.home, 0o2770)
        self.ada.must("init", *(["--share-with", str(SHARED_GROUP)] if share else []))
        self.accept_own(self.ada)
        for service in (self.service, self.mallory):
            self.add_key_slot(service)
        self.ada.must("vault", "slot", "add", "--recipient", self.recipient(self.bob))
        accepted = self.bob.accept()
        if accepted.status != 0:
            raise NotStaged(f"bob accepts: {accepted}")
        self.must_hold(self.ada.put("open", {"class": 1}), "a record after first unlock")
        for actor in (self.service, self.mallory, self.bob):
            actor.must("get", "open")
        self.must_hold(self.ada.put("closed", {"class": 2}, "--accessible", "when-unlocked"), "a record when unlocked")
        self.must_hold(self.ada.add("bank", "ada", b"pin 1", "when-unlocked"), "an item when unlocked")
        self.must_hold(self.ada.add("db", "robot", b"word 1"), "an item after first unlock")
        for actor in (self.service, self.mallory, self.bob):
            actor.must("get", "open")

    def accept_own(self, actor):
        """An identity's own new vault may need it too: a recipient's slot proves nothing about its maker."""
        if actor.ctl("vault", "list").code == "notAccepted":
            self.must_hold(actor.accept(), f"{actor.name} accepts the vault of their making")

    def add_key_slot(self, service):
        path = service.file
        if self.ada.uid is not None:
            path = self.base / (service.name + ".copy")
            shutil.copy(service.file, path)
            os.chown(path, self.ada.uid, SHARED_GROUP)
            os.chmod(path, 0o600)
        self.ada.must("vault", "slot", "add", "--new-key-file", str(path))

    def slot_of(self, actor):
        """The number of an actor's slot, by the register."""
        vault = actor.open()
        return vault.slot.id

    def rekey(self, *gone, by=None, keep=True):
        words = []
        for number in gone:
            words += ["--remove-slot", str(number)]
        return (by or self.ada).must("vault", "rekey", *words, "--yes")

    def copy(self):
        """Every file of the vault, as a former member may have kept it."""
        return {path.relative_to(self.vault): path.read_bytes() for path in self.vault.rglob("*") if path.is_file()}

    def restore(self, files, *names):
        for name in names or files:
            path = self.vault / name
            data = files[pathlib.Path(name)]
            self.plant(path, data)

    def plant(self, path, data):
        """Renames a file over another, as any member who may write the directory can; owner and mode are the neighbours'."""
        path = pathlib.Path(path)
        path.parent.mkdir(exist_ok=True)
        status = os.stat(path.parent)
        temporary = path.with_name("." + path.name + ".planted")
        temporary.write_bytes(data)
        os.chmod(temporary, 0o660 if status.st_mode & 0o2000 else 0o600)
        os.chown(temporary, status.st_uid, status.st_gid)
        os.rename(temporary, path)

    def record(self, name):
        return self.home / "Containers" / GROUP / "Library/Application Support/Records" / (name + ".sealed")

    # statements

    def must_hold(self, result, what):
        if result.status != 0:
            raise NotStaged(f"{what}: {result}\n{result.err.decode(errors='replace')}")
        return result

    def hold(self, condition, what):
        print(f"  {'held     ' if condition else 'SUCCEEDED'}  {what}")
        self.held += bool(condition)
        self.succeeded += not condition

    def refuse(self, result, what, *codes):
        """The victim refuses; with `codes`, for one of these reasons."""
        fits = result.status != 0 and result.code is not None and (not codes or result.code in codes)
        self.hold(fits, f"{what}: {result}" + ("" if fits else f", expected {' or '.join(codes) or 'a refusal with a code'}"))

    def answer(self, result, expected, what):
        """The victim gets the true value."""
        self.hold(result.status == 0 and result.out in (expected, expected + b"\n"), f"{what}: {result}")

    def finish(self):
        shutil.rmtree(self.base, ignore_errors=True)


class Keyring:
    """The kernel's user keyring of this process's user, where tickets are."""

    NUMBERS = {"x86_64": (248, 250), "aarch64": (217, 219)}
    ADD, KEYCTL = NUMBERS.get(os.uname().machine, (None, None))
    libc = ctypes.CDLL(None, use_errno=True)
    USER = ctypes.c_long(-4)

    @classmethod
    def read(cls, name):
        """The contents, or None."""
        if cls.KEYCTL is None:
            return None
        key = cls.libc.syscall(cls.KEYCTL, 10, cls.USER, b"user", name.encode(), 0)
        if key < 0:
            return None
        buffer = ctypes.create_string_buffer(4096)
        size = cls.libc.syscall(cls.KEYCTL, 11, ctypes.c_long(key), buffer, ctypes.c_size_t(4096))
        return buffer.raw[:size] if size >= 0 else None

    @classmethod
    def write(cls, name, data):
        """Puts a key in the place of one that this user may not update, only unlink."""
        cls.remove(name)
        return cls.libc.syscall(cls.ADD, b"user", name.encode(), data, ctypes.c_size_t(len(data)), cls.USER) > 0

    @classmethod
    def remove(cls, name):
        """Unlinks a key of that name from the user's keyring."""
        key = cls.libc.syscall(cls.KEYCTL, 10, cls.USER, b"user", name.encode(), 0) if cls.KEYCTL else -1
        if key > 0:
            cls.libc.syscall(cls.KEYCTL, 9, ctypes.c_long(key), cls.USER)


def run(title, attack):
    lab = Lab(title)
    try:
        attack(lab)
        status = 1 if lab.succeeded else 0 if lab.held else 2
    except Skipped as reason:
        print(f"  skipped: {reason}")
        status = 1 if lab.succeeded else 0
    except (NotStaged, format2.Refused) as reason:
        print(f"  not staged: {reason}")
        print("".join(f"    {line}\n" for line in lab.steps[-12:]), end="")
        status = 1 if lab.succeeded else 2
    except Exception:
        traceback.print_exc()
        status = 2
    finally:
        lab.finish() if not os.environ.get("ATTACK_KEEP") else print(f"  kept: {lab.base}")
    sys.exit(status)
