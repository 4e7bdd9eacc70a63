#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const int32_t clinux_o_tmpfile = O_TMPFILE;
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

int32_t clinux_ofd_lock(int32_t file, int32_t kind, int64_t offset, int64_t length) {
    struct flock lock;
    // l_pid must be 0 for open file description locks.
    memset(&lock, 0, sizeof lock);
    lock.l_type = kind == CLINUX_LOCK_SHARED ? F_RDLCK : kind == CLINUX_LOCK_EXCLUSIVE ? F_WRLCK : F_UNLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = offset;
    lock.l_len = length;
    return fcntl(file, F_OFD_SETLK, &lock) < 0 ? -errno : 0;
}

int32_t clinux_reserve(int32_t file, int64_t length) {
    return fallocate(file, 0, 0, length) < 0 ? -errno : 0;
}
