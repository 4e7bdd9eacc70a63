// The peer of the benchmarks: what SealedState does with blobs and records, written straight down in C.
//
// Same bytes on disk, same system calls, same checks of a blob, same wiping. It leaves out what only a library needs:
// errors with reasons, limits, retries after signals. Blobs of either side open on the other (sealed-bench checks it).

#ifndef CBASELINE_H
#define CBASELINE_H

#include <stddef.h>
#include <stdint.h>

// A record's place and key: what a caller keeps between calls.
struct cbaseline_place {
    uint8_t group_tag[16];
    uint8_t name_tag[16];
    uint8_t key_id[16];
    uint8_t key[32];
    uint32_t epoch;
    uint32_t schema_version;
};

// 0 when libsodium can be used; call it before anything else.
int cbaseline_start(void);

// A record's blob in memory from malloc, its size in *size; NULL without memory. Free it with cbaseline_discard.
uint8_t *cbaseline_seal(const struct cbaseline_place *place, uint64_t sequence, const uint8_t *plaintext,
                        size_t plaintext_size, size_t *size);
void cbaseline_discard(uint8_t *blob);

// A record's plaintext in memory from malloc, its size in *size; NULL for a blob that is not authentic or not of this
// place. Free it with cbaseline_forget, which wipes it.
uint8_t *cbaseline_open(const struct cbaseline_place *place, const uint8_t *blob, size_t blob_size, size_t *size);
void cbaseline_forget(uint8_t *plaintext, size_t size);

// Reads and opens the record at a path below a directory; as cbaseline_open, and NULL when it cannot be read.
uint8_t *cbaseline_read(const struct cbaseline_place *place, int directory, const char *path, size_t *size);

// Where a record is written: its path below the container, and the same as a folder and a name in it.
struct cbaseline_target {
    int container;
    const char *lock_name;
    int64_t lock_offset;
    const char *path;
    const char *folder;
    const char *leaf;
    const char *pending_leaf;
    const char *watermarks_folder;
    const char *watermarks_leaf;
    const char *watermarks_path;
    uint8_t watermarks_key[32];
    // The vault's directory and name, and what its file began with when its key was read: a writer looks at it again.
    int vault_folder;
    const char *vault_leaf;
    const uint8_t *vault_front;
    size_t vault_front_size;
};

// Seals and writes the record's next version and appends to the watermarks; 0, or -1 when a call failed.
int cbaseline_write(const struct cbaseline_place *place, const struct cbaseline_target *target,
                    const uint8_t *plaintext, size_t plaintext_size, int durable);

// A table of blobs by name in a plain database, with the same columns as that of SealedState.
struct cbaseline_database;

// Opens or creates the database at a path, with its statements compiled; NULL if that fails. With `encrypted`, SQLCipher
// opens it, which is loaded beside SQLite; NULL as well if it is not installed.
struct cbaseline_database *cbaseline_database_open(const char *path, int encrypted);
void cbaseline_database_close(struct cbaseline_database *database);

// The calls return 0, or -1 when one failed. Without a transaction each is one of its own.
int cbaseline_database_set_durable(struct cbaseline_database *database, int durable);
int cbaseline_database_begin(struct cbaseline_database *database);
int cbaseline_database_commit(struct cbaseline_database *database);
int cbaseline_database_insert(struct cbaseline_database *database, const char *name, const uint8_t *blob, size_t size);
int cbaseline_database_update(struct cbaseline_database *database, const char *name, const uint8_t *blob, size_t size);

// A blob in memory from malloc, its size in *size; NULL if it is missing. Free it with cbaseline_discard.
uint8_t *cbaseline_database_read(struct cbaseline_database *database, const char *name, size_t *size);

// Copies the names from `first` to before `end` with their blobs' first 176 bytes, each into memory of its own, and frees
// them; their number, or -1.
int cbaseline_database_list(struct cbaseline_database *database, const char *first, const char *end, int limit);

#endif
