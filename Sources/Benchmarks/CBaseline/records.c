#define _GNU_SOURCE
#include "cbaseline.h"
#include "format.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_beneath(int directory, const char *path, int flags, unsigned mode) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = (unsigned)(flags | O_CLOEXEC | O_NOCTTY);
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

// The open regular file and its facts, or -1.
static int open_content(int directory, const char *path, struct stat *facts) {
    int file = open_beneath(directory, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    if (file < 0) return -1;
    if (fstat(file, facts) == 0 && S_ISREG(facts->st_mode)) return file;
    close(file);
    return -1;
}

uint8_t *cbaseline_read(const struct cbaseline_place *place, int directory, const char *path, size_t *size) {
    struct stat facts;
    uint8_t *plaintext = NULL;
    int file = open_content(directory, path, &facts);
    if (file < 0) return NULL;
    uint8_t *blob = malloc((size_t)facts.st_size + 1);
    // One byte more than expected: a short answer shows the end.
    ssize_t count = blob == NULL ? -1 : pread(file, blob, (size_t)facts.st_size + 1, 0);
    close(file);
    if (count == facts.st_size) plaintext = cbaseline_open(place, blob, (size_t)count, size);
    free(blob);
    return plaintext;
}

static int open_folder(const char *path) {
    return openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int is_named(const struct stat *mine, int directory, const char *name) {
    struct stat theirs;
    return fstatat(directory, name, &theirs, AT_SYMLINK_NOFOLLOW) == 0 && mine->st_ino == theirs.st_ino &&
           mine->st_dev == theirs.st_dev;
}

static int set_lock(int file, short kind, int64_t offset) {
    struct flock range;
    memset(&range, 0, sizeof range);
    range.l_type = kind;
    range.l_whence = SEEK_SET;
    range.l_start = offset;
    range.l_len = 1;
    return fcntl(file, F_OFD_SETLK, &range);
}

// Returns whether no process waits for the lock, which our writers check before they take it.
static int is_line_empty(int file, int64_t offset) {
    struct flock range;
    memset(&range, 0, sizeof range);
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = offset | 1LL << 62;
    range.l_len = 1;
    return fcntl(file, F_OFD_GETLK, &range) == 0 && range.l_type == F_UNLCK;
}

// The open and locked lock file, or -1.
static int take_lock(const struct cbaseline_target *target, struct stat *facts) {
    int file = open_beneath(target->container, target->lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0) return -1;
    if (fstat(file, facts) == 0 && S_ISREG(facts->st_mode) && facts->st_nlink == 1 &&
        (facts->st_uid == 0 || facts->st_uid == geteuid()) && (facts->st_mode & 0600) == 0600 &&
        is_line_empty(file, target->lock_offset) && set_lock(file, F_WRLCK, target->lock_offset) == 0 &&
        is_named(facts, target->container, target->lock_name))
        return file;
    close(file);
    return -1;
}

// The log of watermarks, which our writers hold open between writes; -1 before the first.
static int watermarks = -1;
static struct stat watermarks_facts;

// Whether the log's name can be looked up. By its size our writers detect entries of other processes.
static int look_for_watermarks(const struct cbaseline_target *target) {
    struct stat facts;
    return lstat(target->watermarks_path, &facts) == 0 || errno == ENOENT ? 0 : -1;
}

static int has_watermarks(const struct cbaseline_target *target) {
    return watermarks >= 0 && is_named(&watermarks_facts, AT_FDCWD, target->watermarks_path);
}

static int open_watermarks(const struct cbaseline_target *target) {
    struct stat facts;
    if (watermarks >= 0) close(watermarks);
    watermarks = -1;
    int folder = open_folder(target->watermarks_folder);
    if (folder < 0) return 0;
    if (fstat(folder, &facts) == 0 && facts.st_uid == geteuid() && (facts.st_mode & 022) == 0) {
        int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
        watermarks = open_beneath(folder, target->watermarks_leaf, flags, 0600);
    }
    close(folder);
    if (watermarks < 0) return 0;
    if (fstat(watermarks, &watermarks_facts) == 0 && S_ISREG(watermarks_facts.st_mode)) return 1;
    close(watermarks);
    watermarks = -1;
    return 0;
}

// The sequence of the stored authentic blob, 0 without a blob, or -1.
static int64_t standing_sequence(const struct cbaseline_place *place, int container, const char *path) {
    uint8_t header[HEADER_SIZE], derived[64];
    struct stat facts;
    int64_t sequence = -1;
    int file = open_content(container, path, &facts);
    if (file < 0) return 0;
    if (pread(file, header, HEADER_SIZE, 0) == HEADER_SIZE && verify_header(place, header, HEADER_SIZE, derived) == 0)
        memcpy(&sequence, header + 64, 8);
    sodium_memzero(derived, sizeof derived);
    close(file);
    return sequence;
}

// Returns whether the vault is still the one of the key.
static int is_same_vault(const struct cbaseline_target *target) {
    struct stat facts;
    int same = 0;
    int file = open_content(target->vault_folder, target->vault_leaf, &facts);
    uint8_t *front = file < 0 ? NULL : malloc(target->vault_front_size);
    if (front != NULL)
        same = pread(file, front, target->vault_front_size, 0) == (ssize_t)target->vault_front_size &&
               memcmp(front, target->vault_front, target->vault_front_size) == 0;
    free(front);
    if (file >= 0) close(file);
    return same;
}

static int fill(int file, const uint8_t *blob, size_t size) {
    return fchmod(file, 0600) == 0 && fallocate(file, 0, 0, (off_t)size) == 0 && write(file, blob, size) == (ssize_t)size;
}

static int name_file(int file, int folder, const struct cbaseline_target *target, int durable) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return linkat(AT_FDCWD, path, folder, target->pending_leaf, AT_SYMLINK_FOLLOW) == 0 &&
           (!durable || fdatasync(file) == 0) && renameat(folder, target->pending_leaf, folder, target->leaf) == 0 &&
           (!durable || fsync(folder) == 0);
}

static int replace(const struct cbaseline_target *target, const uint8_t *blob, size_t size, int durable) {
    int done = 0;
    int folder = open_beneath(target->container, target->folder, O_RDONLY | O_DIRECTORY, 0);
    if (folder < 0) return -1;
    int file = openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0) {
        done = fill(file, blob, size) && name_file(file, folder, target, durable);
        close(file);
    }
    close(folder);
    return done ? 0 : -1;
}

// One authenticated entry: name, epoch, flags, sequence, commitment, then zeros and the code.
static void make_entry(uint8_t entry[128], const struct cbaseline_target *target, const uint8_t *blob, int durable) {
    memset(entry, 0, 128);
    memcpy(entry, blob + 32, 16);
    memcpy(entry + 16, blob + 12, 4);
    entry[20] = durable ? 1 : 0;
    memcpy(entry + 24, blob + 64, 8);
    memcpy(entry + 32, blob + COMMITMENT_OFFSET, 32);
    crypto_generichash_blake2b_salt_personal(entry + 96, 32, entry, 96, target->watermarks_key, 32, NULL,
                                             (const uint8_t *)"SealedState.wme1");
}

static int append_watermark(const struct cbaseline_target *target, const uint8_t *blob, int durable) {
    uint8_t entry[128];
    make_entry(entry, target, blob, durable);
    if (!has_watermarks(target) && !open_watermarks(target)) return -1;
    return write(watermarks, entry, sizeof entry) == sizeof entry && has_watermarks(target) ? 0 : -1;
}

// The steps between taking the lock and giving it back.
static int write_locked(const struct cbaseline_place *place, const struct cbaseline_target *target,
                        const struct stat *lock, const uint8_t *plaintext, size_t plaintext_size, int durable) {
    size_t size = 0;
    int result = -1;
    if (look_for_watermarks(target) != 0 || !is_same_vault(target)) return -1;
    int64_t standing = standing_sequence(place, target->container, target->path);
    if (standing < 0) return -1;
    uint8_t *blob = cbaseline_seal(place, (uint64_t)standing + 1, plaintext, plaintext_size, &size);
    if (blob != NULL && is_named(lock, target->container, target->lock_name) &&
        replace(target, blob, size, durable) == 0 && look_for_watermarks(target) == 0 &&
        append_watermark(target, blob, durable) == 0 && is_named(lock, target->container, target->lock_name))
        result = 0;
    cbaseline_discard(blob);
    return result;
}

int cbaseline_write(const struct cbaseline_place *place, const struct cbaseline_target *target,
                    const uint8_t *plaintext, size_t plaintext_size, int durable) {
    struct stat facts;
    int lock = take_lock(target, &facts);
    if (lock < 0) return -1;
    int result = write_locked(place, target, &facts, plaintext, plaintext_size, durable);
    set_lock(lock, F_UNLCK, target->lock_offset);
    close(lock);
    return result;
}
