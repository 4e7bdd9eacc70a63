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

// Named here as well: a compiled module is only made anew when one of the headers that it knows has changed.
#include "clinux_arguments.h"
#include "clinux_ipc.h"

// Flags that the C library hides behind feature macros, as plain constants.
extern const int32_t clinux_o_tmpfile;       // O_TMPFILE
extern const int32_t clinux_o_noatime;       // O_NOATIME: -EPERM for a file of somebody else
extern const int32_t clinux_o_path;          // O_PATH
extern const uint64_t clinux_resolve_beneath;        // RESOLVE_BENEATH: no step may leave the directory
extern const uint64_t clinux_resolve_no_symlinks;    // RESOLVE_NO_SYMLINKS: no step may be a symbolic link
extern const uint64_t clinux_resolve_no_magiclinks;  // RESOLVE_NO_MAGICLINKS: no /proc-style links

// openat2(2), by its number: the C library of Debian 12 has no wrapper. `mode` must be 0 without O_CREAT or
// O_TMPFILE. Returns the descriptor, or -errno (-ENOSYS before Linux 5.6).
int32_t clinux_openat2(int32_t directory, const char *path, int32_t flags, uint32_t mode, uint64_t resolve);

// Open file description locks, F_OFD_SETLK of fcntl(2): never waits. They belong to the open file description,
// so they end with its last descriptor, and two descriptions of one process exclude each other.
// `length` 0 reaches to the end of every possible file. Held by somebody else: -EAGAIN or -EACCES.
enum { CLINUX_LOCK_SHARED = 0, CLINUX_LOCK_EXCLUSIVE = 1, CLINUX_LOCK_NONE = 2 };
int32_t clinux_ofd_lock(int32_t file, int32_t kind, int64_t offset, int64_t length);

// F_OFD_GETLK of fcntl(2): whether that lock could be taken through this descriptor now. 1 when it could, 0 when somebody
// else holds what excludes it.
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

// fstatfs(2): the magic number of the file system that an open file or directory lies in, such as TMPFS_MAGIC.
int64_t clinux_file_system_type(int32_t file);

// fgetxattr(2): an extended attribute of an open file or directory. Returns its size in bytes; -ENODATA
// where there is none, -EOPNOTSUPP where the file system has no such attributes, -ERANGE for a buffer that is too small.
int64_t clinux_get_attribute(int32_t file, const char *name, void *buffer, uint64_t size);

// accept4(2) with SOCK_CLOEXEC and SOCK_NONBLOCK: no child that is started meanwhile inherits the connection.
int32_t clinux_accept(int32_t listener);

// secure_getenv(3): NULL in a process that has more rights than its caller. No system call; the string is the
// environment's own and holds until that is changed.
const char *clinux_secure_getenv(const char *name);

// The kernel's key retention service, keyrings(7): add_key(2) and keyctl(2) by their numbers, without libkeyutils.
// A key is known by its serial number, from 1; the special keyrings below stand for the caller's own. A container may
// forbid all of it: -EPERM or -ENOSYS. The user's quota is used up: -EDQUOT.
extern const int32_t clinux_thread_keyring;  // KEY_SPEC_THREAD_KEYRING: ends with the thread
extern const int32_t clinux_user_keyring;    // KEY_SPEC_USER_KEYRING: one for all logins and services of the real user

// Makes a key, or changes the content of the one that has the type and name in that keyring. Returns its serial.
int32_t clinux_key_add(int32_t keyring, const char *type, const char *name, const void *content, uint64_t size);

// KEYCTL_SEARCH without a destination. Returns the serial; -ENOKEY, -EKEYEXPIRED or -EKEYREVOKED when there is none.
int32_t clinux_key_search(int32_t keyring, const char *type, const char *name);

// KEYCTL_READ. Returns the content's size, which may be more than `size`; then the buffer's content is unspecified.
int64_t clinux_key_read(int32_t serial, void *buffer, uint64_t size);

// KEYCTL_DESCRIBE: `type;uid;gid;permissions;name` with its NUL. Returns the size, as clinux_key_read does.
int64_t clinux_key_describe(int32_t serial, char *buffer, uint64_t size);

// KEYCTL_SETPERM: a byte each for the possessor, the key's user, its group and others, from the highest one on.
int32_t clinux_key_set_permissions(int32_t serial, uint32_t permissions);

// KEYCTL_SET_TIMEOUT, counted by the kernel from now on; 0 takes the limit away.
int32_t clinux_key_set_timeout(int32_t serial, uint32_t seconds);

// KEYCTL_LINK displaces a key of the same type and name in that keyring; KEYCTL_UNLINK takes one link away.
int32_t clinux_key_link(int32_t serial, int32_t keyring);
int32_t clinux_key_unlink(int32_t serial, int32_t keyring);

// End a key for everybody who holds its serial: KEYCTL_REVOKE leaves a dead key behind, KEYCTL_INVALIDATE removes it.
int32_t clinux_key_revoke(int32_t serial);
int32_t clinux_key_invalidate(int32_t serial);

// KEYCTL_JOIN_SESSION_KEYRING with a fresh, nameless keyring: what a new login or service starts with.
int32_t clinux_join_session_keyring(void);

// prctl(2), PR_SET_DUMPABLE: 0 keeps the process out of core files, and its memory and /proc entries from other processes
// of its user; 1 is how a program starts. An execve(2) sets it back.
int32_t clinux_set_dumpable(int32_t dumpable);

// timerfd_create(2) of the wall clock: non-blocking, closed on exec. Returns the descriptor.
int32_t clinux_wall_timer(void);

// timerfd_settime(2), absolute and with TFD_TIMER_CANCEL_ON_SET: readable at that time, in nanoseconds since 1970, or as
// soon as somebody sets the clock. From then on it stays silent until it is set anew. 0 stands for no time at all.
// -ECANCELED when the clock was set and nobody has read that yet: it is set all the same, and nobody will.
int32_t clinux_wall_timer_set(int32_t timer, int64_t nanoseconds);

// read(2) of a timer: how often it went off, 0 for not yet; -ECANCELED when the clock was set.
int64_t clinux_wall_timer_read(int32_t timer);

#endif
