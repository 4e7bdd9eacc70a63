"""SQLite databases, made by SQLite itself. Each function gets the path of a file that is not there yet."""
import os
import plistlib
import sqlite3

from structured_carriers import binary_plist


def open_database(path, *pragmas):
    database = sqlite3.connect(path, isolation_level=None)
    # Nothing here has to survive a power failure.
    for pragma in ("synchronous = OFF", "secure_delete = OFF", *pragmas):
        database.execute(f"PRAGMA {pragma}").fetchall()
    return database


def filler(database, random, rows=40):
    database.execute("CREATE TABLE settings (id INTEGER PRIMARY KEY, key TEXT, value TEXT)")
    for index in range(rows):
        database.execute("INSERT INTO settings (key, value) VALUES (?, ?)", (f"option{index}", f"{random.random():.6f}"))


def table(random, name, value, path):
    database = open_database(path)
    filler(database, random)
    database.execute(f'CREATE TABLE accounts (id INTEGER PRIMARY KEY, user TEXT, "{name}" TEXT)')
    database.execute("INSERT INTO accounts VALUES (1, 'ada', ?)", (value,))
    database.close()


def key_value(random, name, value, path):
    """A table of names and values, as many apps keep: only the row knows what the value is called."""
    database = open_database(path)
    filler(database, random)
    database.execute("INSERT INTO settings (key, value) VALUES (?, ?)", (name, value))
    database.close()


def blob(random, name, value, path):
    database = open_database(path, "page_size = 1024")
    filler(database, random)
    database.execute("CREATE TABLE ZSTATE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, ZPAYLOAD BLOB)")
    database.execute("INSERT INTO ZSTATE VALUES (1, 2, ?)", (binary_plist(random, name, value),))
    database.close()


def overflow(random, name, value, path):
    database = open_database(path, "page_size = 512")
    filler(database, random)
    database.execute("CREATE TABLE cache (body TEXT)")
    text = " ".join(f"word{random.randrange(1000)}" for _ in range(900))
    database.execute("INSERT INTO cache VALUES (?)", (f'{text} "{name}": "{value}" {text}',))
    database.close()


def freed(random, name, value, path):
    database = open_database(path)
    filler(database, random)
    database.execute(f'CREATE TABLE accounts (id INTEGER PRIMARY KEY, user TEXT, "{name}" TEXT)')
    for index in range(30):
        database.execute("INSERT INTO accounts VALUES (?, ?, ?)", (index, "ada", value if index == 11 else f"none {index}"))
    database.execute("DELETE FROM accounts WHERE id = 11")
    database.close()


def dropped(random, name, value, path):
    database = open_database(path)
    filler(database, random)
    database.execute(f'CREATE TABLE accounts (id INTEGER PRIMARY KEY, user TEXT, "{name}" TEXT)')
    for index in range(200):
        database.execute("INSERT INTO accounts VALUES (?, ?, ?)", (index, "ada" * 20, value if index == 111 else ""))
    database.execute("DROP TABLE accounts")
    database.close()


def log_only(random, name, value, path):
    """The row is in the write-ahead log and nowhere else: the process ends without a checkpoint."""
    child = os.fork()
    if child == 0:
        database = open_database(path)
        filler(database, random)
        database.execute(f'CREATE TABLE accounts (id INTEGER PRIMARY KEY, user TEXT, "{name}" TEXT)')
        database.execute("PRAGMA journal_mode = WAL").fetchall()
        database.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
        database.execute("INSERT INTO accounts VALUES (1, 'ada', ?)", (value,))
        os._exit(0)
    os.waitpid(child, 0)


CARRIERS = {
    "sqlite": table, "sqlite-key-value": key_value, "core-data-blob": blob, "sqlite-overflow": overflow,
    "sqlite-freed": freed, "sqlite-dropped": dropped, "sqlite-log": log_only,
}
