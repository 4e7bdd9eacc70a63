#if SQLite
internal import CSQLite
internal import Glibc
internal import SealedBackends

extension SQLiteBackend {
    /// Writes a copy by SQLite's online backup: one moment's pages, while other programs write.
    func copy(to directory: String) throws(BackendError) {
        let path = try Self.prepareDirectory(of: directory) + "/Records.sqlite"
        guard mknod(path, S_IFREG | 0o600, 0) == 0 else { throw Self.failure("create", path) }
        try reading { connection throws(BackendError) in try connection.copy(to: path) }
        _ = try SQLiteConnection(path)
    }

    /// Compares every page, row and index of the database with each other (`PRAGMA integrity_check`), and finds rows that
    /// `scan` does not list or `read` does not return.
    func examine() throws(BackendError) {
        let faults = try reading { connection throws(BackendError) in
            try connection.single("PRAGMA integrity_check(1)").map { String(decoding: $0, as: UTF8.self) }
        }
        guard faults == ["ok"] else {
            throw BackendError(.damaged, "examine", path, faults.first ?? "SQLite reports nothing.")
        }
        let foreign = try reading { connection throws(BackendError) in
            try connection.single(SQLiteSchema.foreignRows).map { String(decoding: $0, as: UTF8.self) }
        }
        guard foreign == ["0"] else {
            throw BackendError(
                .damaged, "examine", path, "\(foreign.first ?? "Some") of its rows have values that no record has.")
        }
    }
}

extension SQLiteConnection {
    /// Copies all pages into an empty file that no other process knows.
    fileprivate func copy(to target: String) throws(BackendError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        defer { sqlite3_close_v2(opened) }
        guard sqlite3_open_v2(target, &opened, flags, nil) == SQLITE_OK, let opened else {
            throw Self.failure(SQLITE_CANTOPEN, "copy to", target, "It cannot be opened.")
        }
        try withDatabase { database throws(BackendError) in
            guard let backup = sqlite3_backup_init(opened, "main", database, "main") else {
                throw Self.failure(sqlite3_errcode(opened), "copy to", target, "The copy cannot begin.")
            }
            // All pages in one step: a copy in several begins again after each commit of another process.
            sqlite3_backup_step(backup, -1)
            let result = sqlite3_backup_finish(backup)
            if result != SQLITE_OK {
                throw Self.failure(result, "copy to", target, String(cString: sqlite3_errstr(result)))
            }
        }
    }
}
#endif
