#define _GNU_SOURCE
#include "clinux.h"
#include "clinux_arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

const int32_t clinux_o_tmpfile = O_TMPFILE;
const int32_t clinux_o_noatime = O_NOATIME;
const int32_t clinux_o_path = O_PATH;
const uint64_t clinux_resolve_beneath = RESOLVE_BENEATH;
const uint64_t clinux_resolve_no_symlinks = RESOLVE_NO_SYMLINKS;
const uint64_t clinux_resolve_no_magiclinks = RESOLVE_NO_MAGICLINKS;

int32_t clinux_openat2(int32_t directory, const char *path, int32_t flags, uint32_t mode, uint64_t resolve) {
    struct open_how how;
    // The kernel refuses unknown non-zero bytes, so a larger future struct must start out as zeros.
    memset(&how, 0, sizeof how);
    how.flags = (uint32_t)flags;
    how.mode = mode;
    how.resolve = resolve;
    long result = syscall(SYS_openat2, directory, path, &how, sizeof how);
    return result < 0 ? -errno : (int32_t)result;
}

static struct flock ofd_range(int32_t kind, int64_t offset, int64_t length) {
    struct flock lock;
    // l_pid must be 0 for open file description locks.
    memset(&lock, 0, sizeof lock);
    lock.l_type = kind == CLINUX_LOCK_SHARED ? F_RDLCK : kind == CLINUX_LOCK_EXCLUSIVE ? F_WRLCK : F_UNLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = offset;
    lock.l_len = length;
    return lock;
}

int32_t clinux_ofd_lock(int32_t file, int32_t kind, int64_t offset, int64_t length) {
    struct flock lock = ofd_range(kind, offset, length);
    return fcntl(file, F_OFD_SETLK, &lock) < 0 ? -errno : 0;
}

int32_t clinux_ofd_lock_is_free(int32_t file, int32_t kind, int64_t offset, int64_t length) {
    struct flock lock = ofd_range(kind, offset, length);
    if (fcntl(file, F_OFD_GETLK, &lock) < 0) return -errno;
    return lock.l_type == F_UNLCK;
}

int32_t clinux_reserve(int32_t file, int64_t length) {
    return fallocate(file, 0, 0, length) < 0 ? -errno : 0;
}

int32_t clinux_rename_new(int32_t directory, const char *from, const char *to) {
    return renameat2(directory, from, directory, to, RENAME_NOREPLACE) < 0 ? -errno : 0;
}

int32_t clinux_eventfd(void) {
    int result = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return result < 0 ? -errno : result;
}

int32_t clinux_name_thread(const char *name) {
    return prctl(PR_SET_NAME, (unsigned long)name, 0UL, 0UL, 0UL) < 0 ? -errno : 0;
}

int64_t clinux_file_system_type(int32_t file) {
    struct statfs facts;
    return fstatfs(file, &facts) < 0 ? -errno : (int64_t)(uint32_t)facts.f_type;
}

int64_t clinux_get_attribute(int32_t file, const char *name, void *buffer, uint64_t size) {
    ssize_t count = fgetxattr(file, name, buffer, (size_t)size);
    return count < 0 ? -errno : count;
}

int32_t clinux_accept(int32_t listener) {
    int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return accepted < 0 ? -errno : accepted;
}

int32_t clinux_pipe(int32_t ends[2]) {
    if (pipe2(ends, O_CLOEXEC) < 0) return -errno;
    // A new pipe takes the flag without a failure.
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return 0;
}

int32_t clinux_memory_file(const char *name) {
    int file = memfd_create(name, MFD_CLOEXEC);
    return file < 0 ? -errno : file;
}

const char *clinux_secure_getenv(const char *name) {
    return secure_getenv(name);
}

const int32_t clinux_thread_keyring = KEY_SPEC_THREAD_KEYRING;
const int32_t clinux_user_keyring = KEY_SPEC_USER_KEYRING;

static int64_t keyctl(long operation, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
    long result = syscall(SYS_keyctl, operation, a, b, c, d);
    return result < 0 ? -errno : result;
}

// Special keyrings have negative numbers; the kernel reads them from the low half of a sign-extended word.
static unsigned long key(int32_t serial) {
    return (unsigned long)(long)serial;
}

int32_t clinux_key_add(int32_t keyring, const char *type, const char *name, const void *content, uint64_t size) {
    long result = syscall(SYS_add_key, type, name, content, (size_t)size, (long)keyring);
    return result < 0 ? -errno : (int32_t)result;
}

int32_t clinux_key_search(int32_t keyring, const char *type, const char *name) {
    return (int32_t)keyctl(KEYCTL_SEARCH, key(keyring), (unsigned long)type, (unsigned long)name, 0);
}

int64_t clinux_key_read(int32_t serial, void *buffer, uint64_t size) {
    return keyctl(KEYCTL_READ, key(serial), (unsigned long)buffer, size, 0);
}

int64_t clinux_key_describe(int32_t serial, char *buffer, uint64_t size) {
    return keyctl(KEYCTL_DESCRIBE, key(serial), (unsigned long)buffer, size, 0);
}

int32_t clinux_key_set_permissions(int32_t serial, uint32_t permissions) {
    return (int32_t)keyctl(KEYCTL_SETPERM, key(serial), permissions, 0, 0);
}

int32_t clinux_key_set_timeout(int32_t serial, uint32_t seconds) {
    return (int32_t)keyctl(KEYCTL_SET_TIMEOUT, key(serial), seconds, 0, 0);
}

int32_t clinux_key_link(int32_t serial, int32_t keyring) {
    return (int32_t)keyctl(KEYCTL_LINK, key(serial), key(keyring), 0, 0);
}

int32_t clinux_key_unlink(int32_t serial, int32_t keyring) {
    return (int32_t)keyctl(KEYCTL_UNLINK, key(serial), key(keyring), 0, 0);
}

int32_t clinux_key_revoke(int32_t serial) {
    return (int32_t)keyctl(KEYCTL_REVOKE, key(serial), 0, 0, 0);
}

int32_t clinux_key_invalidate(int32_t serial) {
    return (int32_t)keyctl(KEYCTL_INVALIDATE, key(serial), 0, 0, 0);
}

int32_t clinux_join_session_keyring(void) {
    return (int32_t)keyctl(KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0);
}

int32_t clinux_set_dumpable(int32_t dumpable) {
    return prctl(PR_SET_DUMPABLE, (unsigned long)dumpable, 0UL, 0UL, 0UL) < 0 ? -errno : 0;
}

static int32_t saved_count;
static char *const *saved_arguments;

// glibc calls each function of .init_array with the arguments of main (csu/libc-start.c, elf/dl-init.c). Another C library
// may pass nothing, and the parameters would have undefined values: there the count stays 0.
#ifdef __GLIBC__
static void save_arguments(int count, char **arguments, char **environment) {
    (void)environment;
    if (count <= 0 || arguments == NULL) return;
    saved_count = count;
    saved_arguments = arguments;
}

__attribute__((section(".init_array"), used)) static void (*const initialiser)(int, char **, char **) = save_arguments;
#endif

int32_t clinux_argument_count(void) { return saved_count; }

char *const *clinux_arguments(void) { return saved_arguments; }
