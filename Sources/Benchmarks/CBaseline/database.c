#define _GNU_SOURCE
#include "cbaseline.h"

// A package that turns the trait "SQLite" off may be built where the library is not installed.
#if __has_include(<sqlite3.h>)
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// The calls of one library: SQLCipher's have the same names as SQLite's.
struct library {
    int (*open)(const char *, sqlite3 **, int, const char *);
    int (*close)(sqlite3 *);
    int (*exec)(sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **);
    int (*prepare)(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
    int (*finalize)(sqlite3_stmt *);
    int (*bind_blob)(sqlite3_stmt *, int, const void *, int, void (*)(void *));
    int (*bind_text)(sqlite3_stmt *, int, const char *, int, void (*)(void *));
    int (*bind_int64)(sqlite3_stmt *, int, sqlite3_int64);
    int (*step)(sqlite3_stmt *);
    int (*reset)(sqlite3_stmt *);
    const void *(*column_blob)(sqlite3_stmt *, int);
    int (*column_bytes)(sqlite3_stmt *, int);
};

enum { READ, INSERT, UPDATE, LIST, BEGIN, COMMIT, STATEMENTS };

static const char *const texts[STATEMENTS] = {
    [READ] = "SELECT head, body FROM record WHERE name = ?1",
    [INSERT] = "INSERT INTO record(name, rev, head, body) VALUES(?1, ?2, ?3, ?4)",
    [UPDATE] = "UPDATE record SET rev = ?2, head = ?3, body = ?4 WHERE name = ?1",
    [LIST] = "SELECT name, head FROM record WHERE name >= ?1 AND name < ?2 ORDER BY name LIMIT ?3",
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
};

// The size of a header, which has a column of its own.
enum { HEAD = 176 };

struct cbaseline_database {
    struct library library;
    void *handle;
    sqlite3 *connection;
    sqlite3_stmt *statements[STATEMENTS];
    int64_t revision;
};

static int find_calls(void *handle, struct library *library) {
    const struct {
        const char *name;
        void *place;
    } calls[] = {
        {"sqlite3_open_v2", &library->open},         {"sqlite3_close", &library->close},
        {"sqlite3_exec", &library->exec},            {"sqlite3_prepare_v2", &library->prepare},
        {"sqlite3_finalize", &library->finalize},    {"sqlite3_bind_blob", &library->bind_blob},
        {"sqlite3_bind_text", &library->bind_text},  {"sqlite3_bind_int64", &library->bind_int64},
        {"sqlite3_step", &library->step},            {"sqlite3_reset", &library->reset},
        {"sqlite3_column_blob", &library->column_blob},
        {"sqlite3_column_bytes", &library->column_bytes},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *call = dlsym(handle, calls[i].name);
        if (call == NULL) return -1;
        memcpy(calls[i].place, &call, sizeof call);
    }
    return 0;
}

static void *load(int encrypted) {
    if (!encrypted) return dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    static const char *const names[] = {"libsqlcipher.so.1", "libsqlcipher.so.0", "libsqlcipher.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        // RTLD_DEEPBIND: the library calls itself, and not SQLite, whose functions have the same names.
        void *handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
        if (handle != NULL) return handle;
    }
    return NULL;
}

static int run(struct cbaseline_database *database, const char *text) {
    return database->library.exec(database->connection, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : -1;
}

static int prepare(struct cbaseline_database *database, const char *path, int encrypted) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    database->handle = load(encrypted);
    if (database->handle == NULL || find_calls(database->handle, &database->library) < 0) return -1;
    if (database->library.open(path, &database->connection, flags, NULL) != SQLITE_OK) return -1;
    // A raw key, so that no passphrase is hashed, and pages of SQLite's size.
    if (encrypted && run(database, "PRAGMA key = \"x'000102030405060708090a0b0c0d0e0f"
                                   "101112131415161718191a1b1c1d1e1f'\"; PRAGMA cipher_page_size = 4096") < 0)
        return -1;
    if (run(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA mmap_size = 0;"
                      "CREATE TABLE IF NOT EXISTS record(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, "
                      "rev INTEGER NOT NULL, head BLOB NOT NULL, body BLOB NOT NULL)") < 0)
        return -1;
    for (int i = 0; i < STATEMENTS; i++)
        if (database->library.prepare(database->connection, texts[i], -1, &database->statements[i], NULL) != SQLITE_OK)
            return -1;
    return 0;
}

struct cbaseline_database *cbaseline_database_open(const char *path, int encrypted) {
    struct cbaseline_database *database = calloc(1, sizeof *database);
    if (database != NULL && prepare(database, path, encrypted) == 0) return database;
    cbaseline_database_close(database);
    return NULL;
}

void cbaseline_database_close(struct cbaseline_database *database) {
    if (database == NULL) return;
    for (int i = 0; i < STATEMENTS; i++)
        if (database->statements[i] != NULL) database->library.finalize(database->statements[i]);
    if (database->connection != NULL) database->library.close(database->connection);
    if (database->handle != NULL) dlclose(database->handle);
    free(database);
}

static int finish(struct cbaseline_database *database, int statement) {
    int result = database->library.step(database->statements[statement]);
    database->library.reset(database->statements[statement]);
    return result == SQLITE_DONE ? 0 : -1;
}

int cbaseline_database_set_durable(struct cbaseline_database *database, int durable) {
    return run(database, durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
}

int cbaseline_database_begin(struct cbaseline_database *database) { return finish(database, BEGIN); }

int cbaseline_database_commit(struct cbaseline_database *database) { return finish(database, COMMIT); }

static int put(struct cbaseline_database *database, int statement, const char *name, const uint8_t *blob, size_t size) {
    const struct library *library = &database->library;
    sqlite3_stmt *write = database->statements[statement];
    size_t head = size < HEAD ? size : HEAD;
    library->bind_text(write, 1, name, -1, SQLITE_STATIC);
    library->bind_int64(write, 2, ++database->revision);
    library->bind_blob(write, 3, blob, (int)head, SQLITE_STATIC);
    library->bind_blob(write, 4, blob + head, (int)(size - head), SQLITE_STATIC);
    return finish(database, statement);
}

int cbaseline_database_insert(struct cbaseline_database *database, const char *name, const uint8_t *blob, size_t size) {
    return put(database, INSERT, name, blob, size);
}

int cbaseline_database_update(struct cbaseline_database *database, const char *name, const uint8_t *blob, size_t size) {
    return put(database, UPDATE, name, blob, size);
}

// Two columns of the present row, one after the other in memory from malloc.
static uint8_t *copy_row(const struct library *library, sqlite3_stmt *row, size_t *size) {
    size_t first = (size_t)library->column_bytes(row, 0), second = (size_t)library->column_bytes(row, 1);
    uint8_t *copy = malloc(first + second + 1);
    if (copy == NULL) return NULL;
    if (first > 0) memcpy(copy, library->column_blob(row, 0), first);
    if (second > 0) memcpy(copy + first, library->column_blob(row, 1), second);
    *size = first + second;
    return copy;
}

uint8_t *cbaseline_database_read(struct cbaseline_database *database, const char *name, size_t *size) {
    const struct library *library = &database->library;
    sqlite3_stmt *read = database->statements[READ];
    library->bind_text(read, 1, name, -1, SQLITE_STATIC);
    uint8_t *blob = library->step(read) == SQLITE_ROW ? copy_row(library, read, size) : NULL;
    library->reset(read);
    return blob;
}

int cbaseline_database_list(struct cbaseline_database *database, const char *first, const char *end, int limit) {
    const struct library *library = &database->library;
    sqlite3_stmt *list = database->statements[LIST];
    uint8_t **rows = calloc((size_t)limit + 1, sizeof *rows);
    if (rows == NULL) return -1;
    library->bind_text(list, 1, first, -1, SQLITE_STATIC);
    library->bind_text(list, 2, end, -1, SQLITE_STATIC);
    library->bind_int64(list, 3, limit);
    int count = 0;
    size_t size;
    while (count < limit && library->step(list) == SQLITE_ROW) rows[count++] = copy_row(library, list, &size);
    library->reset(list);
    for (int i = 0; i < count; i++) free(rows[i]);
    free(rows);
    return count;
}
#endif
