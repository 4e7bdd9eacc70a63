/// Where things lie below a container's root; the one place that names them.
package enum ContainerLayout {
    /// Sealed records, one file each, in directories by the segments of their names.
    package static let records = "Library/Application Support/Records"
    /// Ends the file name of every sealed record.
    package static let recordSuffix = ".sealed"
    /// Copies of blobs that were refused, kept for whoever wants to know why.
    package static let quarantine = "Quarantine"
    /// The one lock file of the container.
    package static let lockFile = ".sealedstate.lock"
    /// Where holders of leases show that they live. A file of its own: a lease is held for as long as its work takes, and
    /// a rotation waits for every lock of the other one.
    package static let leaseFile = ".sealedstate.leases"
    /// A copy of what the registry knows of the container: its group, members and quota. Where the registry is lost, the
    /// container is found by it.
    package static let metadata = ".sealedstate.container"
    /// The signed list of the group's writers, readable by every member (docs/writers.md).
    package static let roster = ".sealedstate.roster"
    /// Begins the names of the reserves for deletions, one for each user; the user's number ends it.
    package static let reservePrefix = ".sealedstate.reserve."

    /// Whether a path below the container is that of a reserve.
    package static func isReserve(_ path: some StringProtocol) -> Bool {
        guard path.hasPrefix(reservePrefix) else { return false }
        let user = path.utf8.dropFirst(reservePrefix.utf8.count)
        return (1...10).contains(user.count)
            && user.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    /// One file for each notification that was ever posted.
    package static let notifications = ".notifications"
    /// The lock file of coordinated accesses, and the addresses of processes with presenters.
    package static let coordination = ".coordination"
    /// What stands for the group's semaphores and shared memory, and their lock file.
    package static let ipc = ".ipc"
    /// The group's UNIX domain sockets, and their lock file.
    package static let sockets = ".sockets"
}
