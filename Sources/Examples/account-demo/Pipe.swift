internal import Glibc

/// A pipe whose ends no later child inherits: an end left open in a sibling would hide that a program has ended.
struct Pipe {
    let readEnd: Int32
    let writeEnd: Int32

    /// - Throws: `Stop` `.unavailable`.
    static func make() throws(Stop) -> Pipe {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .unavailable("no pipe can be made") }
        // Nothing is started between the two calls: the demo has one thread.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return Pipe(readEnd: ends[0], writeEnd: ends[1])
    }
}
