// Linux system calls that Swift cannot call: types and status codes, no policy.
//
// Contract of every function here:
//   - it makes exactly one system call and never retries (EINTR is the caller's to handle);
//   - it returns the call's non-negative result, or -errno; `errno` itself is left unspecified;
//   - it takes plain integers and NUL-terminated strings, keeps no pointer and allocates nothing.
#ifndef CLINUX_H
#define CLINUX_H

#include <stdint.h>

// Flags that the C library hides behind feature macros, as plain constants.
extern const int32_t clinux_o_tmpfile;       // O_TMPFILE
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

// fallocate(2) of the bytes 0..<length, which grows the file to `length`. -EOPNOTSUPP where the file system
// has no such thing; unlike posix_fallocate(3) it never falls back to writing every block.
int32_t clinux_reserve(int32_t file, int64_t length);

#endif
