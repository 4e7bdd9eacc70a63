#if SQLite
internal import CSQLite
internal import Glibc
internal import SealedBackends

/// A connection to the database. One thread uses it at a time: the backend lends it for one call.
final class SQLiteConnection {
    /// The statements, compiled once for each connection.
    enum Statement: Int, CaseIterable {
        case read, size, head, scan, put, replace, remove
        case note, lastChange, end, tag, changes, trim, identity
        case keep, kept, countKept
        case begin, commit, rollback

        /// A header of the usual size needs no copy: `substr` makes one.
        private static let boundedHead = "CASE WHEN length(head) <= 176 THEN head ELSE substr(head, 1, 176) END"

        fileprivate var text: String {
            switch self {
            case .read: "SELECT rev, head, body FROM record WHERE name = ?1"
            case .size: "SELECT length(head) + length(body) FROM record WHERE name = ?1"
            case .head: "SELECT rev, \(Self.boundedHead), id FROM record WHERE name = ?1 AND typeof(head) = 'blob'"
            case .scan:
                """
                SELECT name, \(Self.boundedHead) FROM record WHERE name >= ?1 AND name < ?2 AND typeof(head) = 'blob' \
                ORDER BY name
                """
            case .put:
                """
                INSERT INTO record(name, rev, head, body) VALUES(?1, ?2, ?3, ?4) \
                ON CONFLICT(name) DO UPDATE SET rev = excluded.rev, head = excluded.head, body = excluded.body
                """
            case .replace: "UPDATE record SET rev = ?2, head = ?3, body = ?4 WHERE id = ?1"
            case .remove: "DELETE FROM record WHERE name = ?1"
            case .note: "INSERT INTO change(rev, name, tag) VALUES(?1, ?2, ?3)"
            case .lastChange: "SELECT coalesce(max(rev), 0) FROM change"
            case .end: "SELECT rev, tag FROM change ORDER BY rev DESC LIMIT 1"
            case .tag: "SELECT tag FROM change WHERE rev = ?1"
            case .changes: "SELECT rev, name, tag FROM change WHERE rev > ?1 ORDER BY rev LIMIT ?2"
            case .trim: "DELETE FROM change WHERE rev <= ?1"
            case .identity: "SELECT value FROM meta WHERE key = 'identity'"
            case .keep: "INSERT INTO kept(name, version, at, reason, blob) VALUES(?1, ?2, ?3, ?4, ?5)"
            case .kept: "SELECT id FROM kept WHERE name = ?1 AND version = ?2"
            case .countKept: "SELECT count(*) FROM kept WHERE name = ?1"
            case .begin: "BEGIN IMMEDIATE"
            case .commit: "COMMIT"
            case .rollback: "ROLLBACK"
            }
        }
    }

    private let database: OpaquePointer
    /// The compiled statements by number.
    private var statements = [OpaquePointer?](repeating: nil, count: Statement.allCases.count)
    let path: String
    /// The durability of the connection's commits.
    private var isDurable: Bool?
    /// The names of the database and its log are on the disk.
    private var isNameDurable = false

    /// Opens the database.
    ///
    /// - Parameter isNew: Creates the tables in an empty file.
    /// - Throws: `BackendError` `.damaged` for a file that is not such a database.
    init(_ path: String, isNew: Bool = false) throws(BackendError) {
        self.path = path
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let result = sqlite3_open_v2(path, &opened, flags, nil)
        guard result == SQLITE_OK, let opened else {
            let number = opened.map { sqlite3_system_errno($0) } ?? 0
            sqlite3_close_v2(opened)
            throw Self.failure(result, "open", path, "The database cannot be opened.", errno: number)
        }
        database = opened
        try check(csqlite_defend(database), "open")
        try check(sqlite3_busy_timeout(database, 5000), "open")
        for pragma in ["mmap_size=0", "cell_size_check=ON", "temp_store=MEMORY"] {
            try run("PRAGMA \(pragma)", "open")
        }
        if isNew { try SQLiteSchema.create(self) }
        try SQLiteSchema.compare(self, path)
    }

    deinit {
        for statement in statements { sqlite3_finalize(statement) }
        sqlite3_close_v2(database)
    }

    /// Sets the durability of the commits that follow.
    func setDurable(_ isDurable: Bool) throws(BackendError) {
        if self.isDurable == isDurable { return }
        // SQLite syncs the log's name only in the process that created the log.
        if isDurable && !isNameDurable {
            try Self.syncDirectory(of: path)
            isNameDurable = true
        }
        try run("PRAGMA synchronous=\(isDurable ? "FULL" : "NORMAL")", "write")
        self.isDurable = isDurable
    }

    func withDatabase<Result>(
        _ body: (OpaquePointer) throws(BackendError) -> Result
    ) throws(BackendError) -> Result { try body(database) }

    /// Makes the names in the directory of a path durable.
    static func syncDirectory(of path: String) throws(BackendError) {
        let directory = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        let file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if file >= 0 { close(file) } }
        guard file >= 0, fsync(file) == 0 else {
            let number = errno
            throw BackendError(.io, "sync", directory, String(cString: strerror(number)), errno: number)
        }
    }

    /// Notifies watchers of a commit: the file's time changes.
    func announce() { _ = utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) }

    /// Runs statements without results.
    func run(_ text: String, _ operation: String) throws(BackendError) {
        try check(sqlite3_exec(database, text, nil, nil, nil), operation)
    }

    /// Returns the first column of the first row of a statement that is run once.
    func single(_ text: String) throws(BackendError) -> [[UInt8]] {
        var compiled: OpaquePointer?
        try check(sqlite3_prepare_v2(database, text, -1, &compiled, nil), "open")
        defer { sqlite3_finalize(compiled) }
        var rows: [[UInt8]] = []
        while true {
            switch sqlite3_step(compiled) {
            case SQLITE_ROW: rows.append(Self.bytes(compiled, 0))
            case SQLITE_DONE: return rows
            case let number: throw failure(number, "open")
            }
        }
    }

    /// Runs a statement, and calls `row` for each row.
    func query(
        _ statement: Statement, _ operation: String, _ values: [SQLiteValue] = [],
        _ row: (SQLiteRow) -> Void = { _ in }
    ) throws(BackendError) {
        try rows(of: statement, operation, values) { found in
            row(found)
            return true
        }
    }

    /// Runs a statement, and calls `row` for each row until that returns `false`.
    func rows(
        of statement: Statement, _ operation: String, _ values: [SQLiteValue], _ row: (SQLiteRow) -> Bool
    ) throws(BackendError) {
        let compiled = try self.compiled(statement, operation)
        defer {
            sqlite3_reset(compiled)
            sqlite3_clear_bindings(compiled)
        }
        let number = SQLiteValue.bind(values, to: compiled) {
            while true {
                let result = sqlite3_step(compiled)
                guard result == SQLITE_ROW else { return result }
                if !row(SQLiteRow(statement: compiled)) { return SQLITE_DONE }
            }
        }
        if number != SQLITE_DONE { throw failure(number, operation) }
    }

    /// Makes a query fail with `.tooLarge` for a larger value, before memory is allocated for it.
    func limitValues(to size: Int) {
        // Names are values as well.
        _ = sqlite3_limit(database, SQLITE_LIMIT_LENGTH, Int32(clamping: max(0, size)) | 0x3FF)
    }

    private func compiled(_ statement: Statement, _ operation: String) throws(BackendError) -> OpaquePointer {
        if let known = statements[statement.rawValue] { return known }
        var compiled: OpaquePointer?
        let result = sqlite3_prepare_v3(
            database, statement.text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &compiled, nil)
        try check(result, operation)
        guard let compiled else { throw failure(SQLITE_NOMEM, operation) }
        statements[statement.rawValue] = compiled
        return compiled
    }

    private func check(_ result: Int32, _ operation: String) throws(BackendError) {
        if result != SQLITE_OK { throw failure(result, operation) }
    }

    private func failure(_ number: Int32, _ operation: String) -> BackendError {
        Self.failure(
            sqlite3_extended_errcode(database) & 0xFF == number & 0xFF ? sqlite3_extended_errcode(database) : number,
            operation, path, sqlite3_errmsg(database).map { String(cString: $0) } ?? "It failed.",
            errno: sqlite3_system_errno(database))
    }

    /// The operation of a commit: after a failure it is not known what is in the log.
    static let commit = "commit"
    /// SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC, which are macros of an expression.
    private static let syncFailures = [SQLITE_IOERR | 4 << 8, SQLITE_IOERR | 5 << 8]

    static func failure(
        _ number: Int32, _ operation: String, _ path: String, _ reason: String, errno: Int32 = 0
    ) -> BackendError {
        let code: BackendError.Code =
            switch number & 0xFF {
            case SQLITE_BUSY, SQLITE_LOCKED: .timeout
            case SQLITE_FULL: .full
            // After a failed sync it is not known what is on the disk.
            case SQLITE_IOERR where syncFailures.contains(number): .io
            case SQLITE_IOERR where operation == commit: .io
            case SQLITE_IOERR where errno == EDQUOT, SQLITE_CANTOPEN where errno == EDQUOT: .quotaExceeded
            case SQLITE_IOERR where errno == ENOSPC, SQLITE_CANTOPEN where errno == ENOSPC: .full
            case SQLITE_READONLY: .readOnly
            case SQLITE_PERM, SQLITE_AUTH: .denied
            case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
            case SQLITE_TOOBIG: .tooLarge
            case SQLITE_CANTOPEN where errno == ENOENT || errno == ENOTDIR: .gone
            case SQLITE_CANTOPEN where errno == EACCES: .denied
            default: .io
            }
        return BackendError(code, operation, path, "\(reason) (\(number))")
    }

    fileprivate static func bytes(_ statement: OpaquePointer?, _ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(statement, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }
}

/// A row of a result, valid while its statement is not run on.
struct SQLiteRow {
    fileprivate let statement: OpaquePointer

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_blob(statement, column) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Returns a text of printable ASCII characters, as a record's name is; nil for anything else.
    func name(_ column: Int32) -> String? {
        guard sqlite3_column_type(statement, column) == SQLITE_TEXT,
            let start = sqlite3_column_blob(statement, column)
        else { return nil }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
        return bytes.allSatisfy { (0x20...0x7E).contains($0) } ? String(decoding: bytes, as: UTF8.self) : nil
    }

    func isBlob(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_BLOB }

    func size(_ column: Int32) -> Int { Int(sqlite3_column_bytes(statement, column)) }

    func bytes(_ column: Int32) -> [UInt8] { SQLiteConnection.bytes(statement, column) }

    /// Returns the bytes of two columns, one after the other.
    func bytes(_ first: Int32, _ second: Int32) -> [UInt8] {
        let sizes = (Int(sqlite3_column_bytes(statement, first)), Int(sqlite3_column_bytes(statement, second)))
        return [UInt8](unsafeUninitializedCapacity: sizes.0 + sizes.1) { buffer, count in
            let space = UnsafeMutableRawBufferPointer(buffer)
            for (column, size) in [(first, sizes.0), (second, sizes.1)] {
                guard size > 0, let start = sqlite3_column_blob(statement, column) else { continue }
                UnsafeMutableRawBufferPointer(rebasing: space[count...])
                    .copyMemory(from: UnsafeRawBufferPointer(start: start, count: size))
                count += size
            }
        }
    }
}

/// A value that is bound to a statement.
enum SQLiteValue {
    case integer(Int64)
    case text(String)
    case blob(ArraySlice<UInt8>)

    /// Binds values to a statement for the duration of `body`, without copies.
    static func bind(_ values: [SQLiteValue], to statement: OpaquePointer, _ body: () -> Int32) -> Int32 {
        bind(values[...], 1, statement, body)
    }

    private static func bind(
        _ values: ArraySlice<SQLiteValue>, _ index: Int32, _ statement: OpaquePointer, _ body: () -> Int32
    ) -> Int32 {
        guard let value = values.first else { return body() }
        func rest(_ result: Int32) -> Int32 {
            result == SQLITE_OK ? bind(values.dropFirst(), index + 1, statement, body) : result
        }
        switch value {
        case .integer(let number): return rest(sqlite3_bind_int64(statement, index, number))
        case .text(var text):
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { bytes in
                    rest(
                        bytes.isEmpty
                            ? sqlite3_bind_text64(statement, index, "", 0, nil, UInt8(SQLITE_UTF8))
                            : sqlite3_bind_text64(
                                statement, index, bytes.baseAddress, UInt64(bytes.count), nil, UInt8(SQLITE_UTF8)))
                }
            }
        case .blob(let bytes):
            return bytes.withUnsafeBytes { bytes in
                rest(
                    bytes.isEmpty
                        ? sqlite3_bind_zeroblob(statement, index, 0)
                        : sqlite3_bind_blob64(statement, index, bytes.baseAddress, UInt64(bytes.count), nil))
            }
        }
    }
}

/// The tables. The text in the file is compared with it, byte for byte: no trigger, view or other table is there.
enum SQLiteSchema {
    static let applicationID: Int32 = 0x5345_414C
    static let version = 1

    /// The tables in the order of their names. `change` has the last changes, without gaps in `rev`; `tag` distinguishes
    /// a change from one that had its number and was lost, with power or for an older copy of the database.
    static let tables = [
        "CREATE TABLE change(rev INTEGER PRIMARY KEY, name TEXT NOT NULL, tag INTEGER NOT NULL)",
        "CREATE TABLE kept(id INTEGER PRIMARY KEY, name TEXT NOT NULL, version BLOB NOT NULL, at INTEGER NOT NULL, "
            + "reason TEXT NOT NULL, blob BLOB NOT NULL)",
        "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID",
        "CREATE TABLE record(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, rev INTEGER NOT NULL, "
            + "head BLOB NOT NULL, body BLOB NOT NULL)",
    ]

    /// Counts the rows whose values have types or names that no record has: a column accepts values of any type.
    static let foreignRows = """
        SELECT count(*) FROM record WHERE typeof(name) <> 'text' OR name = '' OR name GLOB '*[^ -~]*' \
        OR typeof(head) <> 'blob' OR typeof(body) <> 'blob'
        """

    /// Creates the tables in an empty file that no other process knows.
    static func create(_ connection: SQLiteConnection) throws(BackendError) {
        _ = try connection.single("PRAGMA journal_mode=WAL")
        try connection.run(
            "BEGIN IMMEDIATE; \(tables.joined(separator: ";")); INSERT INTO meta VALUES('identity', randomblob(16)); "
                + "PRAGMA application_id=\(applicationID); PRAGMA user_version=\(version); COMMIT", "create")
        // Closing ignores a failed sync, and the log is not kept.
        guard try connection.single("PRAGMA wal_checkpoint(TRUNCATE)") == [Array("0".utf8)] else {
            throw BackendError(.io, "create", connection.path, "The new database could not be moved out of its log.")
        }
    }

    /// Compares the tables in the file.
    static func compare(_ connection: SQLiteConnection, _ path: String) throws(BackendError) {
        let found = try connection.single("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
        let facts = try ["application_id", "user_version", "journal_mode"].map { name throws(BackendError) in
            try connection.single("PRAGMA \(name)").first.map { String(decoding: $0, as: UTF8.self) }
        }
        guard facts == [String(applicationID), String(version), "wal"], found == tables.map({ Array($0.utf8) }) else {
            throw BackendError(.damaged, "open", path, "It is not a database of sealed records of this version.")
        }
    }
}
#endif
