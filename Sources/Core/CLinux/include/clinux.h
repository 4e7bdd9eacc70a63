// Linux system calls that Swift cannot call: types and status codes, no policy.
//
// Contract of every function here:
//   - it makes exactly one system call and never retries (EINTR is the caller's to handle);
//   - it returns the call's non-negative result, or -errno; `errno` itself is left unspecified;
//   - it takes plain integers, NUL-terminated strings and buffers with their size, keeps no pointer and allocates
//     nothing.
#ifndef CLINUX_H
#define CLINUX_H

#include <stdint.h>

// Included here as well: a compiled module is rebuilt only if one of the headers that it lists has changed.
#include "clinux_arguments.h"
#include "clinux_ipc.h"

// Flags that the C library hides behind feature macros, as plain constants.
extern const int32_t clinux_o_tmpfile;       // O_TMPFILE
extern const int32_t clinux_o_noatime;       // O_NOATIME: -EPERM for a file of another user
extern const int32_t clinux_o_path;          // O_PATH
extern const uint64_t clinux_resolve_beneath;        // RESOLVE_BENEATH: no step may leave the directory
extern const uint64_t clinux_resolve_no_symlinks;    // RESOLVE_NO_SYMLINKS: no step may be a symbolic link
extern const uint64_t clinux_resolve_no_magiclinks;  // RESOLVE_NO_MAGICLINKS: no /proc-style links

// openat2(2), by its number: the C library of Debian 12 has no wrapper. `mode` must be 0 without O_CREAT or
// O_TMPFILE. Returns the descriptor, or -errno (-ENOSYS before Linux 5.6).
int32_t clinux_openat2(int32_t directory, const char *path, int32_t flags, uint32_t mode, uint64_t resolve);

// Open file description locks, F_OFD_SETLK of fcntl(2): never waits. They belong to the open file description,
// so they end with its last descriptor, and two descriptions of one process exclude each other.
// `length` 0 reaches to the end of every possible file. -EAGAIN or -EACCES if another description holds the lock.
enum { CLINUX_LOCK_SHARED = 0, CLINUX_LOCK_EXCLUSIVE = 1, CLINUX_LOCK_NONE = 2 };
int32_t clinux_ofd_lock(int32_t file, int32_t kind, int64_t offset, int64_t length);

// F_OFD_GETLK of fcntl(2): 1 if the lock can be taken through this descriptor now, 0 if another description holds a lock
// that excludes it.
int32_t clinux_ofd_lock_is_free(int32_t file, int32_t kind, int64_t offset, int64_t length);

// fallocate(2) of the bytes 0..<length, which grows the file to `length`. -EOPNOTSUPP where the file system
// has no such thing; unlike posix_fallocate(3) it never falls back to writing every block.
int32_t clinux_reserve(int32_t file, int64_t length);

// renameat2(2) with RENAME_NOREPLACE, within one directory: gives `from` the name `to` if that is free, else -EEXIST.
// -EINVAL where the file system cannot promise that.
int32_t clinux_rename_new(int32_t directory, const char *from, const char *to);

// eventfd(2) with count 0, close-on-exec and non-blocking.
int32_t clinux_eventfd(void);

// prctl(2), PR_SET_NAME: what debuggers and /proc call the calling thread, at most 15 bytes.
int32_t clinux_name_thread(const char *name);

// fstatfs(2): the magic number of the file system of an open file or directory, such as TMPFS_MAGIC.
int64_t clinux_file_system_type(int32_t file);

// fgetxattr(2): an extended attribute of an open file or directory. Returns its size in bytes; -ENODATA if it does not
// exist, -EOPNOTSUPP if the file system has no such attributes, -ERANGE for a buffer that is too small.
int64_t clinux_get_attribute(int32_t file, const char *name, void *buffer, uint64_t size);

// accept4(2) with SOCK_CLOEXEC and SOCK_NONBLOCK: no child that is started at the same time inherits the connection.
int32_t clinux_accept(int32_t listener);

// pipe2(2), closed on exec; reading never blocks. -errno on failure.
int32_t clinux_pipe(int32_t ends[2]);

// memfd_create(2), closed on exec: a file in memory without a name. -errno on failure.
int32_t clinux_memory_file(const char *name);

// secure_getenv(3): NULL in a process that has more rights than its caller. No system call; the string is the
// environment's own and is valid until the environment is changed.
const char *clinux_secure_getenv(const char *name);

// The kernel's key retention service, keyrings(7): add_key(2) and keyctl(2) by their numbers, without libkeyutils.
// A key is known by its serial number, from 1; the special keyrings below name the caller's own. A container may
// forbid these calls: -EPERM or -ENOSYS. -EDQUOT if the user's quota is used up.
extern const int32_t clinux_thread_keyring;  // KEY_SPEC_THREAD_KEYRING: ends with the thread
extern const int32_t clinux_user_keyring;    // KEY_SPEC_USER_KEYRING: one for all logins and services of the real user

// Creates a key, or changes the content of the key with that type and name in the keyring. Returns its serial number.
int32_t clinux_key_add(int32_t keyring, const char *type, const char *name, const void *content, uint64_t size);

// KEYCTL_SEARCH without a destination. Returns the serial number; -ENOKEY, -EKEYEXPIRED or -EKEYREVOKED if the key is missing.
int32_t clinux_key_search(int32_t keyring, const char *type, const char *name);

// KEYCTL_READ. Returns the content's size, which may be more than `size`; then the buffer's content is unspecified.
int64_t clinux_key_read(int32_t serial, void *buffer, uint64_t size);

// KEYCTL_DESCRIBE: `type;uid;gid;permissions;name` with its NUL. Returns the size, as clinux_key_read does.
int64_t clinux_key_describe(int32_t serial, char *buffer, uint64_t size);

// KEYCTL_SETPERM: a byte each for the possessor, the key's user, its group and others, from the highest one on.
int32_t clinux_key_set_permissions(int32_t serial, uint32_t permissions);

// KEYCTL_SET_TIMEOUT, counted by the kernel from now on; 0 removes the limit.
int32_t clinux_key_set_timeout(int32_t serial, uint32_t seconds);

// KEYCTL_LINK displaces a key of the same type and name in that keyring; KEYCTL_UNLINK removes one link.
int32_t clinux_key_link(int32_t serial, int32_t keyring);
int32_t clinux_key_unlink(int32_t serial, int32_t keyring);

// End a key for all holders of its serial number: KEYCTL_REVOKE leaves a revoked key, KEYCTL_INVALIDATE removes it.
int32_t clinux_key_revoke(int32_t serial);
int32_t clinux_key_invalidate(int32_t serial);

// KEYCTL_JOIN_SESSION_KEYRING with a new, anonymous keyring, as at the start of a login or service.
int32_t clinux_join_session_keyring(void);

// prctl(2), PR_SET_DUMPABLE: 0 keeps the process out of core files, and its memory and /proc entries from other processes
// of its user; 1 is the initial state. An execve(2) resets it.
int32_t clinux_set_dumpable(int32_t dumpable);

// timerfd_create(2) of the wall clock: non-blocking, closed on exec. Returns the descriptor.
int32_t clinux_wall_timer(void);

// timerfd_settime(2), absolute and with TFD_TIMER_CANCEL_ON_SET: readable at that time, in nanoseconds since 1970, or as
// soon as the clock is set. It then stays silent until it is set again. 0 means no time.
// -ECANCELED if the clock was set and that event was not read yet: the timer is set anyway, and the event is lost.
int32_t clinux_wall_timer_set(int32_t timer, int64_t nanoseconds);

// read(2) of a timer: the number of expirations, 0 before the first; -ECANCELED if the clock was set.
int64_t clinux_wall_timer_read(int32_t timer);

#endif
