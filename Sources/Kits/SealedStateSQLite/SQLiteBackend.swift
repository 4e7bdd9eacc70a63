#if SQLite
internal import CLinux
internal import Dispatch
internal import FileMonitoring
internal import Glibc
public import SealedBackends
internal import SharedFiles
internal import Synchronization

/// Records in an SQLite database in the container, for containers that one user owns.
///
/// ```swift
/// var options = StoreOptions()
/// options.backend = SQLiteProvider()
/// let store = try SealedStore(group: group, options: options)
/// ```
///
/// Refused where a unix group may write the container: another member could cut the file that SQLite maps, which
/// ends every process that uses it, or plant a journal that makes SQLite delete files with the reader's rights.
public struct SQLiteProvider: BackendProvider {
    /// Creates a provider.
    public init() {}

    /// The backend's name in a container.
    public var name: String? { "sqlite" }

    /// Opens the database of a container, and creates that of a new one.
    public func open(_ place: BackendPlace) throws(BackendError) -> any SealedBackend {
        guard !place.isShared else {
            throw BackendError(
                .unsupported, "open the database of", place.group, "A unix group may write the container.",
                advice: "Use files, or a container of one user.")
        }
        return try SQLiteBackend(directory: place.directory, isNew: place.isNew)
    }
}

/// Sealed blobs in an SQLite database: one row for each record, the header apart from the rest.
final class SQLiteBackend: SealedBackend {
    let traits = BackendTraits(
        batchLimit: 100_000, largestBlob: 1 << 29, comparesConditions: true, hasDurableCursors: true)
    let path: String
    private let writer: CommitLine
    /// Connections that no call uses now.
    private let idle = Mutex<[LentConnection]>([])
    private static let maximumIdle = 8
    private static let maximumCopies: Int64 = 64
    /// The parts of the path from the container's directory on.
    private static let placedDepth = 4

    /// The file that was opened.
    private let device: dev_t
    private let inode: ino_t
    /// The directory of the container, held open, and the database's path below it; -1 if it may not be opened.
    private let parent: Int32
    private let placedPath: String
    /// The time of the last lookup from `/`, in milliseconds since the machine was started.
    private let lastWhole = Atomic<Int>(-SQLiteBackend.longestShort)
    /// The time in milliseconds during which the replacement of the whole home may stay unnoticed by readers.
    private static let longestShort = 100

    /// - Parameter directory: The directory of the container.
    init(directory: String, isNew: Bool) throws(BackendError) {
        path = try Self.prepareDirectory(of: directory) + "/Records.sqlite"
        let parts = path.split(separator: "/")
        placedPath = parts.suffix(Self.placedDepth).joined(separator: "/")
        if isNew { try Self.createDatabase(path) }
        let status = try Self.requireOwn(path)
        (device, inode) = (status.st_dev, status.st_ino)
        do throws(BackendError) { writer = CommitLine(try SQLiteConnection(path)) } catch {
            throw Self.isInPlace(path, status) ? error : Self.gone(path)
        }
        parent = Glibc.open(
            "/" + parts.dropLast(Self.placedDepth).joined(separator: "/"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }

    deinit { if parent >= 0 { close(parent) } }

    /// Creates the directory of the database, with mode 0700, and returns its path without links: SQLite refuses links
    /// in any part of a path; that of the container was checked.
    static func prepareDirectory(of container: String) throws(BackendError) -> String {
        let directory = "\(container)/Library/Application Support"
        for parent in ["\(container)/Library", directory] {
            if mkdir(parent, 0o700) == 0 {
                try SQLiteConnection.syncDirectory(of: parent)
            } else if errno != EEXIST {
                throw failure("create", parent)
            }
        }
        guard let resolved = realpath(directory, nil) else { throw failure("open", directory) }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Creates the database under another name and renames it: no process sees it unfinished, and a killed one leaves
    /// nothing that others would replay.
    private static func createDatabase(_ path: String) throws(BackendError) {
        if access(path, F_OK) == 0 { return }
        // SQLite would apply the log of another database to the new one.
        guard access(path + "-wal", F_OK) != 0 else {
            throw BackendError(
                .damaged, "create", path, "There is the log of a database without that database.",
                advice: "Put the database back, or move \(path)-wal away.")
        }
        let temporary = "\(path).new.\(String(UInt64.random(in: .min ... .max), radix: 16))"
        guard mknod(temporary, S_IFREG | 0o600, 0) == 0 else { throw failure("create", temporary) }
        defer { for end in ["", "-wal", "-shm", "-journal"] { unlink(temporary + end) } }
        _ = try SQLiteConnection(temporary, isNew: true)
        // Another process may have made it in the meantime. A second name is no way: reading the file by it
        // would end this process's locks.
        let result = clinux_rename_new(AT_FDCWD, temporary, path)
        switch -result {
        case 0, EEXIST: break
        // The file system has no such renaming; the search for blobs leaves the second name out.
        case EINVAL, ENOSYS: if link(temporary, path) < 0 && errno != EEXIST { throw failure("create", path) }
        case let number:
            errno = number
            throw failure("create", path)
        }
        try SQLiteConnection.syncDirectory(of: path)
    }

    /// Refuses a database that SQLite would follow or replay, and that another user may change.
    private static func requireOwn(_ path: String) throws(BackendError) -> stat {
        var status = stat()
        guard lstat(path + "-journal", &status) < 0 else {
            throw BackendError(
                .damaged, "open", path + "-journal",
                "There is a rollback journal, which no program of this library makes: it could name other files to be "
                    + "deleted.", advice: "Find the program that made it.")
        }
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw failure("open", path) }
            throw BackendError(
                .gone, "open", path, "The database of the container's records is missing.",
                advice: "Put it back from a snapshot, or reset the container: sealctl container reset.", errno: ENOENT)
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw BackendError(
                .denied, "open", path, "It is not a file of this user with mode 0600.",
                advice: "Find the program that changed it.")
        }
        return status
    }

    var isInPlace: Bool {
        var opened = stat()
        (opened.st_ino, opened.st_dev) = (inode, device)
        return Self.isInPlace(path, opened)
    }

    private static func isInPlace(_ path: String, _ opened: stat) -> Bool {
        var status = stat()
        // A path that cannot be looked up now is no other one.
        guard lstat(path, &status) == 0 else { return errno != ENOENT && errno != ENOTDIR }
        return status.st_ino == opened.st_ino && status.st_dev == opened.st_dev
    }

    /// The error of a call on a database whose files a move takes away: SQLite has many for that.
    private static func gone(_ path: String) -> BackendError {
        BackendError(.gone, "use", path, "It was moved away or replaced.")
    }

    /// Throws if another file has the path: the container was replaced, or the database. A reader looks it up from the
    /// directory of the container, as readers of files do, and only now and then from `/`.
    private func requirePlace(reading isReading: Bool) throws(BackendError) {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        let now = time.tv_sec * 1000 + time.tv_nsec / 1_000_000
        let isShort = isReading && parent >= 0 && now - lastWhole.load(ordering: .relaxed) < Self.longestShort
        var status = stat()
        let result = isShort ? fstatat(parent, placedPath, &status, AT_SYMLINK_NOFOLLOW) : lstat(path, &status)
        guard result == 0, status.st_ino == inode, status.st_dev == device else {
            throw Self.gone(path)
        }
        if !isShort { lastWhole.store(now, ordering: .relaxed) }
    }

    static func failure(_ operation: String, _ path: String) -> BackendError {
        let number = errno
        return BackendError(
            number == ENOSPC ? .full : number == EACCES ? .denied : .io, operation, path,
            String(cString: strerror(number)), errno: number)
    }

    // MARK: Reading

    func head(_ key: BackendKey) throws(BackendError) -> BlobHead? {
        try reading { connection throws(BackendError) in
            var head: BlobHead?
            try connection.query(.head, "read", [.text(key.name)]) { head = BlobHead(key, bytes: $0.bytes(1)) }
            return head
        }
    }

    func read(_ key: BackendKey, limit: Int) throws(BackendError) -> (any HeldBlob)? {
        var (blob, size): (SQLiteBlob?, Int?) = (nil, nil)
        try reading { connection throws(BackendError) in
            connection.limitValues(to: limit)
            defer { connection.limitValues(to: .max) }
            do throws(BackendError) {
                try connection.query(.read, "read", [.text(key.name)]) { row in
                    guard row.isBlob(1) else { return }
                    // The types first: the size of a value that is no blob converts it.
                    let isWhole = row.isBlob(2)
                    let found = row.size(1) + row.size(2)
                    size = found
                    guard isWhole, row.size(1) <= BlobHead.size, found <= limit else { return }
                    blob = SQLiteBlob(bytes: row.bytes(1, 2), revision: row.integer(0), key: key, backend: self)
                }
            } catch {
                guard error.code == .tooLarge else { throw error }
                try connection.query(.size, "read", [.text(key.name)]) { size = Int(clamping: $0.integer(0)) }
            }
        }
        if blob == nil, let size {
            if size <= limit { throw BackendError(.notABlob, "read", key.name, "Its row has no blob.") }
            throw BackendError(.tooLarge, "read", key.name, "It has \(size) bytes; \(limit) are allowed.")
        }
        return blob
    }

    /// A restored database may count a revision again: the blob is compared as well.
    fileprivate func isCurrent(_ blob: SQLiteBlob) -> Bool {
        let found = try? reading { connection throws(BackendError) in
            var found: (revision: Int64, head: [UInt8])?
            try connection.query(.head, "read", [.text(blob.key.name)]) { found = ($0.integer(0), $0.bytes(1)) }
            return found
        }
        return found?.revision == blob.revision
            && found.map { BlobVersion(of: $0.head) } == BlobVersion(of: blob.bytes)
    }

    func scan(_ prefix: String, after key: BackendKey?, limit: Int) throws(BackendError) -> [BlobHead] {
        if limit <= 0 { return [] }
        // One limit on each side, which the index uses: a list costs what it returns. Names are ASCII, so every name with
        // the prefix is below the prefix and DEL.
        let last = key?.name ?? ""
        let (start, end) = (last < prefix ? prefix : last, prefix + "\u{7F}")
        return try reading { connection throws(BackendError) in
            var heads: [BlobHead] = []
            var isSorted = true
            try connection.rows(of: .scan, "list", [.text(start), .text(end)]) { row in
                if let name = row.name(0), name != last {
                    // A damaged index could return the same names again, without an end.
                    isSorted = name > (heads.last?.key.name ?? last)
                    heads.append(BlobHead(BackendKey(name), bytes: row.bytes(1)))
                }
                return isSorted && heads.count < limit
            }
            guard isSorted else {
                throw BackendError(.damaged, "list", path, "The names in its index are not in order.")
            }
            return heads
        }
    }

    func changes(
        after cursor: BackendCursor?, _ notify: @escaping @Sendable () -> Void
    ) throws(BackendError) -> any BackendChanges {
        try SQLiteChanges(self, path: path, after: cursor, notify)
    }

    /// A connection that is lent to one call.
    private struct LentConnection: @unchecked Sendable {
        // Protected by the mutex of idle connections: it is in the list, or with the one call that took it.
        let connection: SQLiteConnection
    }

    /// Runs `body` with a connection that no other call uses.
    func reading<Result>(
        _ body: (SQLiteConnection) throws(BackendError) -> Result
    ) throws(BackendError) -> Result {
        try requirePlace(reading: true)
        let known = idle.withLock { $0.popLast() }
        do throws(BackendError) {
            let lent = if let known { known } else { LentConnection(connection: try SQLiteConnection(path)) }
            let result = try body(lent.connection)
            idle.withLock { if $0.count < Self.maximumIdle { $0.append(lent) } }
            return result
        } catch {
            // A connection whose call failed is closed.
            throw isInPlace ? error : Self.gone(path)
        }
    }

    // MARK: Writing

    func commit(_ writes: [BackendWrite], durability: Durability) throws(BackendError) {
        if writes.isEmpty { return }
        try traits.requireLimits(of: writes)
        try requirePlace(reading: false)
        try writer.commit(writes, isDurable: durability == .durable)
    }

    /// Every commit is decided when it returns; a durable commit of nothing makes the earlier ones durable.
    func settle(_ key: BackendKey) throws(BackendError) -> BlobHead? {
        try writer.sync()
        return try head(key)
    }

    func preserve(_ key: BackendKey, reason: String, limit: Int) throws(BackendError) -> String? {
        guard let held = try read(key, limit: limit) else {
            throw BackendError(.gone, "keep", key.name, "The record has no blob any more.")
        }
        let version = SQLiteValue.blob(BlobVersion(of: held.bytes).bytes[...])
        return try writer.exclusively { connection throws(BackendError) in
            var id: Int64?
            try connection.query(.kept, "keep", [.text(key.name), version]) { id = $0.integer(0) }
            if let id { return "kept/\(id)" }
            var count: Int64 = 0
            try connection.query(.countKept, "keep", [.text(key.name)]) { count = $0.integer(0) }
            guard count < Self.maximumCopies else { return nil }
            try connection.query(
                .keep, "keep",
                [.text(key.name), version, .integer(Int64(time(nil))), .text(reason), .blob(held.bytes[...])])
            try connection.query(.kept, "keep", [.text(key.name), version]) { id = $0.integer(0) }
            return id.map { "kept/\($0)" }
        }
    }
}

private struct SQLiteBlob: HeldBlob {
    let bytes: [UInt8]
    let revision: Int64
    let key: BackendKey
    let backend: SQLiteBackend

    var isCurrent: Bool { backend.isCurrent(self) }
}
#endif
