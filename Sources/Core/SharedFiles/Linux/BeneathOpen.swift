internal import CLinux
internal import Glibc

/// Opens below a directory so that no link and no `..` can lead out of it, however the tree changes meanwhile.
///
/// openat2(2) with `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS`. The answer is the descriptor or
/// -errno; a refused step shows as `ELOOP` or `EXDEV`.
func openBeneath(_ directory: Int32, _ path: String, _ flags: Int32, mode: mode_t = 0) -> Int32 {
    let resolve = clinux_resolve_beneath | clinux_resolve_no_symlinks | clinux_resolve_no_magiclinks
    var attempts = 0
    while true {
        // Not handed over as it is: that conversion copies the string twice.
        let result = path.withCString {
            clinux_openat2(directory, $0, flags | O_CLOEXEC | O_NOCTTY, UInt32(mode), resolve)
        }
        if result == -EINTR { continue }
        // The kernel asks for another try when a rename raced with the walk; bounded, since a member can go on.
        attempts += 1
        if result != -EAGAIN || attempts > 32 { return result }
    }
}

/// Flags for a directory that is listed, synced and used as an anchor. Without `O_NOFOLLOW`, which would turn a refused
/// link from `ELOOP` into `ENOTDIR`: `RESOLVE_NO_SYMLINKS` refuses it anyway.
let directoryFlags = O_RDONLY | O_DIRECTORY

/// Flags for reading content: a FIFO must not block the open, a terminal must not become ours.
let contentFlags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW
