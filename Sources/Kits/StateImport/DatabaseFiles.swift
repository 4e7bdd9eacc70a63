internal import CryptoPrimitives
internal import Glibc
internal import SealedState
internal import SharedFiles

/// The files beside an SQLite database, such as a store of Core Data. They are parts of it: a program that opens the
/// database first takes back or completes the transactions in them.
///
/// A database is read without SQLite and without a copy: its write-ahead log is read over it, as a checkpoint would
/// write it. That makes one consistent file, if no file of the database was written meanwhile. A rollback journal
/// that a program has to play back is refused.
final class DatabaseFiles: Sendable {
    /// The transactions that are not in the database's own file yet.
    let log: WriteAheadLog?
    private let source: PlaintextSource
    /// The shared memory is the last.
    private let parts: [Part]
    /// The name of the directory of Core Data's external data, if there is one.
    private let support: String?

    private struct Part: Sendable {
        let path: String
        let known: FileMoment
        /// The shared memory of the programs that have the database open: it changes, and nothing in it is lost.
        let isIndex: Bool
    }

    static let magic = Array("SQLite format 3\0".utf8)
    private static let journalMagic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    private static let indexMagic: [[UInt8]] = [[0x18, 0xE2, 0x2D, 0x00], [0x00, 0x2D, 0xE2, 0x18]]
    private static let (logSuffix, indexSuffix, journalSuffix) = ("-wal", "-shm", "-journal")
    private static let superJournalMark = "-mj"
    private static let advice =
        "Close the program that uses the database, or run in it: PRAGMA wal_checkpoint(TRUNCATE); then import it again."
    private static let journalAdvice =
        "Open and close the database with its program, which takes the transaction back; then import it."

    /// - Returns: `nil` for a source that is no database.
    /// - Throws: `StoreError` `.sourceUnusable` if a program has to open the database before it is whole.
    init?(beside source: PlaintextSource) throws(StoreError) {
        let isDatabase = try source.reading { () throws(FileError) in try source.descriptor.head() } == Self.magic
        var (parts, log): ([Part], WriteAheadLog?) = ([], nil)
        for suffix in [Self.journalSuffix, Self.logSuffix, Self.indexSuffix] {
            let path = source.relative + suffix
            let found = try source.reading { () throws(FileError) in try source.part(path, orNone: !isDatabase) }
            guard let file = found else { continue }
            let (known, head) = try source.reading { () throws(FileError) in (try file.moment(), try file.head()) }
            if suffix == Self.journalSuffix { try Self.requireCold(head, isDatabase, source.name + suffix) }
            if suffix == Self.logSuffix, isDatabase || WriteAheadLog.isLog(head) {
                log = try Self.log(file, of: source, isDatabase)
            }
            parts.append(Part(path: path, known: known, isIndex: suffix == Self.indexSuffix))
        }
        guard isDatabase else { return nil }
        try Self.requireOneName(source)
        let siblings = try source.reading { () throws(FileError) in try source.siblings() }
        try Self.requireNoSuperJournal(of: source, siblings)
        let name = source.leaf.lastIndex(of: ".").map { source.leaf[..<$0] } ?? source.leaf[...]
        support = siblings.first { $0 == ".\(name)_SUPPORT" }
        self.source = source
        self.parts = parts
        self.log = log
    }

    private static func log(
        _ file: consuming Descriptor, of source: PlaintextSource, _ isDatabase: Bool
    ) throws(StoreError) -> WriteAheadLog? {
        let name = source.name + logSuffix
        let log: WriteAheadLog?
        do throws(WriteAheadLog.Fault) {
            log = try WriteAheadLog(file)
            if isDatabase { try log?.requireFits(source.descriptor, size: source.facts.size) }
        } catch {
            switch error {
            case .file(let error): throw StoreError(reading: error, name)
            case .unreadable(let reason): throw .unusable(name, "The write-ahead log \(reason).", advice: advice)
            }
        }
        guard log == nil || isDatabase else {
            throw .unusable(
                source.name, "\(name.printable) has transactions, and the file is no database that can be read.",
                advice: advice)
        }
        return log
    }

    /// Refuses a rollback journal that SQLite would play back. Its first bytes are zero after the transaction.
    private static func requireCold(_ head: [UInt8], _ isDatabase: Bool, _ name: String) throws(StoreError) {
        let isHot = isDatabase ? head.first.map { $0 != 0 } ?? false : head.starts(with: journalMagic)
        guard isHot else { return }
        throw .unusable(
            name, "It is the rollback journal of a transaction that was interrupted.", advice: journalAdvice)
    }

    /// SQLite has a log for each name of a database: the log beside this name may be that of none.
    private static func requireOneName(_ source: PlaintextSource) throws(StoreError) {
        guard source.facts.nlink != 1 else { return }
        throw .unusable(
            source.name, "It is a database with \(source.facts.nlink) names; its log is beside one of them.",
            advice: "Remove the other names, and import it under the name that its program uses.")
    }

    private static func requireNoSuperJournal(of source: PlaintextSource, _ names: [String]) throws(StoreError) {
        guard let name = names.first(where: { superJournalOwner(of: $0) == source.leaf }) else { return }
        throw .unusable(
            name, "It is the journal of a transaction over several databases that was interrupted.",
            advice: journalAdvice)
    }

    /// Notes for a person about the parts of the database.
    var notes: [String] {
        var notes = parts.isEmpty ? [] : ["It is a database with these parts: \(parts.map(\.path).shortList)."]
        if let support {
            notes.append("Core Data's external data in \(support.printable) is no part of it: import its files too.")
        }
        return notes
    }
}

extension DatabaseFiles {
    /// Returns a note about the log of a missing database: a call may have been killed after it removed the database.
    static func notes(ofGone path: String) throws(StoreError) -> [String] {
        let (directory, leaf) = try PlaintextSource.place(of: path)
        guard let file = try? directory.openForReading(leaf + logSuffix), let head = try? file.head(),
            WriteAheadLog.isLog(head)
        else { return [] }
        let name = (leaf + logSuffix).printable
        return ["Its log \(name) is still there: remove it if an earlier import was interrupted."]
    }

    /// - Throws: `StoreError` `.sourceChanged` if a part was written, or one was made, since it was opened.
    func requireUnchanged() throws(StoreError) {
        let isSame = try source.reading { () throws(FileError) in
            guard try source.isInPlace() else { return false }
            for suffix in [Self.journalSuffix, Self.logSuffix] {
                let path = source.relative + suffix
                var now: FileMoment?
                if let file = try source.part(path) { now = try file.moment() }
                guard let known = parts.first(where: { $0.path == path })?.known else {
                    if let now, now.attributes.size > 0 { return false }
                    continue
                }
                guard let now, now.isUntouched(since: known) else { return false }
            }
            return true
        }
        if !isSame { throw source.changed }
    }

    /// Refuses a database that a program has open, if its locks show that. No lock is taken.
    func requireClosed() throws(StoreError) {
        guard source.descriptor.hasDatabaseLock else { return }
        throw StoreError(
            .sourceChanged, StoreError.plaintextImport, source.name.printable, "A program has the database open.",
            advice: "End the program that uses the database, and try again.")
    }

    /// Refuses a database that a program has open, or of which a part has another name or is open for writing.
    func requireRemovable() throws(StoreError) {
        try requireClosed()
        for part in parts where !part.isIndex { try source.requireRemovable(part: part.path) }
    }

    /// Removes the parts, after the database. The database is moved then, also if a part remains.
    ///
    /// - Returns: A note about the parts that remain.
    func remove() -> [String] {
        let remaining = parts.filter { part in
            do throws(StoreError) { try source.remove(part: part.path, part.known) } catch { return true }
            return false
        }
        guard !remaining.isEmpty else { return [] }
        return [
            "These parts were not removed for certain: \(remaining.map(\.path).shortList). Remove them; "
                + "what they contain is sealed."
        ]
    }

    /// The database with the files as they are now.
    func reopened() throws(StoreError) -> (PlaintextSource, DatabaseFiles?) {
        let source = try source.reopened()
        return (source, try DatabaseFiles(beside: source))
    }

    /// Returns the path of the database that a file would be a part of, by its name.
    static func owner(of path: String) -> String? {
        for suffix in [logSuffix, indexSuffix, journalSuffix] where path.hasSuffix(suffix) {
            return String(path.dropLast(suffix.count))
        }
        return superJournalOwner(of: path)
    }

    /// Super-journals have the name of a database, a mark and hexadecimal digits.
    private static func superJournalOwner(of path: String) -> String? {
        guard let mark = path.ranges(of: superJournalMark).last else { return nil }
        let digits = path[mark.upperBound...]
        return digits.count >= 8 && digits.allSatisfy(\.isHexDigit) ? String(path[..<mark.lowerBound]) : nil
    }

    /// Returns whether first bytes are those of a log, its index, or a journal.
    static func isPart(_ head: [UInt8]) -> Bool {
        WriteAheadLog.isLog(head) || head.starts(with: journalMagic)
            || indexMagic.contains { head.starts(with: $0) }
    }
}

extension Descriptor {
    /// Whether another program has the open file locked as a database: a program that has it open in the mode of the
    /// write-ahead log, or reads it now. `false` on a file system without locks.
    var hasDatabaseLock: Bool {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        // SQLite's bytes for shared locks.
        lock.l_start = 0x4000_0002
        lock.l_len = 510
        // F_OFD_GETLK, which fcntl.h defines only for GNU programs. It sees the locks of this process as well.
        return fcntl(rawValue, 36, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// The first bytes, enough to see the kind of a part of a database.
    func head() throws(FileError) -> [UInt8] {
        var head = PlaintextBuffer(count: 16)
        let count = try head.withUnsafeMutableBytes { buffer throws(FileError) in try pread(into: buffer, at: 0) }
        return head.withUnsafeBytes { Array($0.prefix(count)) }
    }
}
