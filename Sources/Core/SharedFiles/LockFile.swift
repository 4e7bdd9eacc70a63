internal import CLinux
package import Glibc

/// A file whose byte ranges are locks between processes, and between threads of one process.
///
/// The file stays empty and is never removed. Each acquisition opens it afresh, so two threads exclude each other as
/// two processes do. A dead holder's locks are released; a stopped holder makes others wait for their full time limit.
package final class LockFile: Sendable {
    private let directory: Directory
    private let name: String
    private let mode: mode_t

    /// Creates a lock file by its name in a directory; the file is made when the first lock is taken.
    ///
    /// - Parameter mode: minimum permission bits, regardless of the umask: `Directory.fileMode` in a shared directory.
    package init(directory: Directory, name: String, mode: mode_t = 0o600) {
        self.directory = directory
        self.name = name
        self.mode = mode
    }

    /// Takes a range; blocks the calling thread until the range is free.
    ///
    /// The call retries after pauses that grow from 50 microseconds to one millisecond, so that a time limit and
    /// cancellation always work. There is no queue. A caller that has waited for 20 milliseconds shows it, and
    /// newcomers then hold back for 2 milliseconds before the first attempt, so that frequent callers can't starve it;
    /// for a caller that waits for everything, for up to 100 milliseconds.
    /// - Parameters:
    ///   - timeout: zero tries once, without holding back.
    ///   - isCancelled: checked before each wait.
    /// - Throws: `lockTimeout`, `lockFileReplaced` when the time ran out on a file that kept being replaced,
    ///   `cancelled`; `notRegularFile`, `unsafePath`, `secondName` or `wrongOwner` for a planted file; or an error of
    ///   opening it.
    package func acquire(
        _ range: LockRange, _ lockMode: LockMode, timeout: Duration, isCancelled: (() -> Bool)? = nil
    ) throws(FileError) -> HeldLock {
        var wait = LockWait(timeout: timeout, isCancelled: isCancelled)
        var line = LockLine(range)
        var facts: FileAttributes?
        var file = try open(&facts)
        if timeout > .zero && line.isFormed(file) {
            try wait.yieldToQueue(directory.display(name))
            // Many holders of single slots leave no moment at which all are free.
            while range != .whole && line.isOfWhole(file) && wait.yieldsToWhole {
                try wait.step(.lockTimeout, directory.display(name))
            }
        }
        while true {
            let result = ByteRangeLock.attempt(file.rawValue, range, lockMode)
            // Checked while waiting too: a lock on a file that lost its name excludes no other process and may never be
            // released.
            let isNamed = Self.isNamed(facts, name, in: directory)
            if result == 0 && isNamed {
                line.leave(file)
                return HeldLock(file, facts, range, directory, name)
            }
            do throws(FileError) {
                if result < 0 && result != -EAGAIN { throw directory.error(-result, "take the lock", name) }
                try wait.step(isNamed ? .lockTimeout : .lockFileReplaced, directory.display(name))
            } catch {
                line.leave(file)
                throw error
            }
            if !isNamed {
                line.leave(file)
                file = try open(&facts)
            }
            if wait.isLong { line.join(file) }
        }
    }

    /// Returns whether another lock on any part of a range may be held now: `false` without a file, `true` for a file
    /// that cannot be opened.
    package func mayBeHeld(_ range: LockRange) -> Bool {
        do throws(FileError) {
            let file = try directory.openForReading(name)
            return !ByteRangeLock.isFree(file.rawValue, range)
        } catch {
            return error.code != .notFound
        }
    }

    private func open(_ facts: inout FileAttributes?) throws(FileError) -> Descriptor {
        _ = try LeafName(name)
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK
        let file = try directory.openOrMake(name, flags, mode: mode, "open the lock file")
        let opened = try file.attributes()
        try requireLockFile(opened)
        try widenMode(of: file, opened)
        facts = opened
        return file
    }

    /// A planted FIFO or device is not a lock; a second name or a foreign owner means that another program chose the
    /// file.
    private func requireLockFile(_ facts: FileAttributes) throws(FileError) {
        guard facts.kind == .regular else {
            throw FileError(.notRegularFile, operation: FileError.useLockFile, path: directory.display(name))
        }
        // 0 links: removed since it was opened; the caller detects that and opens the new one.
        if facts.nlink > 1 { throw .secondName(ofLockFile: directory.display(name)) }
        if facts.uid == 0 || facts.uid == geteuid() { return }
        let place = try directory.attributes(".")
        let isMembers = place.sharing == .unixGroup(facts.gid)
        guard facts.uid == place.uid || isMembers else {
            let path = directory.display(name)
            throw FileError(
                .wrongOwner, operation: FileError.useLockFile, path: path,
                advice: "See its owner, stop its users and remove it: rm \(path.shellQuoted)")
        }
    }

    /// Restores permissions that were removed from this user's file, so that other members can lock it as well.
    private func widenMode(of file: borrowing Descriptor, _ facts: FileAttributes) throws(FileError) {
        if mode & ~facts.mode != 0 && facts.uid == geteuid() && fchmod(file.rawValue, facts.mode | mode) < 0 {
            throw directory.error(errno, "set the mode of", name)
        }
    }

    /// Returns `true` if the name still denotes the open file.
    package static func isNamed(_ file: borrowing Descriptor, _ name: String, in directory: Directory) -> Bool {
        isNamed(try? file.attributes(), name, in: directory)
    }

    /// Returns `true` if the name still denotes the open file with these attributes.
    static func isNamed(_ facts: FileAttributes?, _ name: String, in directory: Directory) -> Bool {
        guard let named = try? directory.attributes(ofLeaf: name) else { return false }
        // An open file keeps its inode, so its facts are not asked for again.
        return facts?.isSameFile(as: named) ?? false
    }
}

extension FileError {
    fileprivate static let useLockFile = "use the lock file"

    /// Returns the error for a lock file with a second name.
    package static func secondName(ofLockFile path: String) -> FileError {
        FileError(
            .secondName, operation: useLockFile, path: path,
            advice: "Find its other name (find / -samefile \(path.shellQuoted)), stop the programs that use it, "
                + "and remove this one; the next lock creates the file again: rm \(path.shellQuoted)")
    }
}

/// A lock that is held until this value ends, or until `unlock`.
package struct HeldLock: ~Copyable, Sendable {
    /// The locked range.
    package let range: LockRange
    /// The lock file, open for reading and writing.
    package let file: Descriptor
    private let facts: FileAttributes?
    private let directory: Directory
    private let name: String

    init(
        _ file: consuming Descriptor, _ facts: FileAttributes?, _ range: LockRange, _ directory: Directory,
        _ name: String
    ) {
        self.file = file
        self.facts = facts
        self.range = range
        self.directory = directory
        self.name = name
    }

    /// Returns whether the lock file still has its name. Checked just before a rename: if it is false, another process
    /// may hold "the same" lock on a new file, and the write must fail (`lockFileReplaced`).
    package func isStillNamed() -> Bool {
        LockFile.isNamed(facts, name, in: directory)
    }

    /// Releases the lock.
    package consuming func unlock() {}

    deinit {
        // Before the close: a child process that was forked meanwhile shares the description and would keep the lock.
        ByteRangeLock.release(file.rawValue, range)
    }
}

/// The line of callers that have waited long for a range.
///
/// Newcomers hold back for a moment, once, so that continuous writers cannot starve a slower one. The line excludes no
/// caller: a stopped member costs each newcomer only that moment.
struct LockLine {
    private let range: LockRange
    private var isIn = false

    init(_ range: LockRange) { self.range = range.line }

    /// Returns whether other callers are in the line.
    func isFormed(_ file: borrowing Descriptor) -> Bool { !ByteRangeLock.isFree(file.rawValue, range) }

    /// Returns whether a caller that waits for everything is in the line.
    func isOfWhole(_ file: borrowing Descriptor) -> Bool { !ByteRangeLock.isFree(file.rawValue, LockRange.marker.line) }

    /// Joins the line, beside any number of others.
    mutating func join(_ file: borrowing Descriptor) {
        isIn = isIn || ByteRangeLock.attempt(file.rawValue, range, .shared) == 0
    }

    /// Leaves the line. Not left to the descriptor's close, which a forked child may delay.
    mutating func leave(_ file: borrowing Descriptor) {
        if isIn { ByteRangeLock.release(file.rawValue, range) }
        isIn = false
    }
}

/// The range of a lock: everything, or one of 2^62 slots.
///
/// A slot is one byte of the lock file at an offset far beyond its (empty) content; nothing is ever written there. Two
/// names whose hashes share their lower 62 bits share a slot and wait for each other, which costs only time, unless one
/// task holds both at once: that task would wait for itself until its time limit.
package struct LockRange: Sendable, Hashable {
    let offset: Int64
    let length: Int64

    private static let slotCount: Int64 = 1 << 62

    /// Every slot: excludes all other ranges.
    package static let whole = LockRange(offset: 0, length: slotCount)

    /// A slot that only callers for everything wait for: the bytes `everyone`.
    fileprivate static let marker = LockRange(slot: 0x656E_6F79_7265_7665)

    /// Creates the range of one slot.
    ///
    /// - Parameter slot: a hash of the record's name that is the same in every process (not Swift's `Hasher`, which is
    ///   seeded per process); its upper two bits are ignored, since an offset is a signed 64-bit number.
    package init(slot: UInt64) {
        self.init(offset: Int64(slot & 0x3FFF_FFFF_FFFF_FFFF), length: 1)
    }

    /// The range behind the slots where callers that have waited long mark their presence. It excludes no caller.
    var line: LockRange { LockRange(offset: offset + Self.slotCount, length: length) }

    private init(offset: Int64, length: Int64) {
        self.offset = offset
        self.length = length
    }
}

/// The locks that may coexist on the same range.
package enum LockMode: Sendable, Hashable {
    /// Other shared locks.
    case shared
    /// No other lock.
    case exclusive
}

/// The remaining time for a lock, spent in pauses that grow from 50 microseconds to a millisecond.
///
/// The clock can't be set and stops while the machine sleeps: waking up causes no timeout.
package struct LockWait {
    /// The time after which a caller joins the line.
    private static let patience = Duration.milliseconds(20)
    /// The time for which a newcomer holds back: longer than the longest pause, so that each caller in the line retries
    /// at least once meanwhile.
    private static let fairnessDelay = Duration.milliseconds(2)
    private static let longestPause = Duration.milliseconds(1)
    /// The time for which a newcomer holds back for a caller that waits for everything: longer than most locks are held.
    private static let longDelay = Duration.milliseconds(100)

    private let start = SuspendingClock.now
    private let deadline: SuspendingClock.Instant
    private let isCancelled: (() -> Bool)?
    private var delay = Duration.microseconds(50)

    package init(timeout: Duration, isCancelled: (() -> Bool)?) {
        deadline = start + timeout
        self.isCancelled = isCancelled
    }

    /// `true` if it is time to join the line.
    var isLong: Bool { SuspendingClock.now - start >= Self.patience }

    /// `true` while a newcomer may still hold back for a caller that waits for everything.
    var yieldsToWhole: Bool {
        let now = SuspendingClock.now
        // The first attempt is made in any case.
        return now - start < Self.longDelay && deadline - now > Self.longestPause * 2
    }

    /// Pauses once, or throws `cancelled`, or `failure` if the time is used up.
    package mutating func step(_ failure: FileError.Code, _ path: @autoclosure () -> String) throws(FileError) {
        try spend(delay, failure, path())
        delay = min(delay * 2, Self.longestPause)
    }

    /// Lets the callers in the line go first, once.
    mutating func yieldToQueue(_ path: @autoclosure () -> String) throws(FileError) {
        try spend(Self.fairnessDelay, .lockTimeout, path())
        delay = Self.longestPause
    }

    private func spend(
        _ duration: Duration, _ failure: FileError.Code, _ path: @autoclosure () -> String
    ) throws(FileError) {
        if isCancelled?() == true { throw FileError(.cancelled, operation: "take the lock", path: path()) }
        let remaining = deadline - SuspendingClock.now
        if remaining <= .zero { throw FileError(failure, operation: "take the lock", path: path()) }
        pause(min(duration, remaining))
    }
}

/// Open file description locks of fcntl(2). They end with their description, also when the holder is killed. Closing
/// another descriptor of the same file does not drop them, as it would drop POSIX record locks.
package enum ByteRangeLock {
    /// Takes a range if it is free now; returns 0, -EAGAIN if it is held, or another -errno.
    package static func attempt(_ file: Int32, _ range: LockRange, _ mode: LockMode) -> Int32 {
        let kind = mode == .shared ? CLINUX_LOCK_SHARED : CLINUX_LOCK_EXCLUSIVE
        let result = set(file, range, Int32(kind))
        return result == -EACCES ? -EAGAIN : result
    }

    /// Returns whether no other description holds any part of a range; a failed query counts as held.
    static func isFree(_ file: Int32, _ range: LockRange) -> Bool {
        clinux_ofd_lock_is_free(file, Int32(CLINUX_LOCK_EXCLUSIVE), range.offset, range.length) == 1
    }

    /// Releases a range.
    package static func release(_ file: Int32, _ range: LockRange) {
        _ = set(file, range, Int32(CLINUX_LOCK_NONE))
    }

    private static func set(_ file: Int32, _ range: LockRange, _ kind: Int32) -> Int32 {
        while true {
            let result = clinux_ofd_lock(file, kind, range.offset, range.length)
            if result != -EINTR { return result }
        }
    }
}
