package import CryptoPrimitives
package import Glibc
internal import Sealing
package import SharedFiles
internal import Synchronization

/// Who did what with a vault, and when: a file of chained entries beside it (`docs/access-log.md`).
///
/// Safe for many processes and threads at once. It tells what honest programs did, and whether somebody without the
/// vault's keys has changed that later; a program that holds the keys can write what it likes.
package final class AccessLog: Sendable {
    /// How long an entry waits for others that append; each holds the lock for some microseconds.
    package static let timeLimit = Duration.milliseconds(250)
    /// From here on a file rolls over: 32,768 entries.
    package static let maximumSize: Int64 = 8 << 20

    /// How often an entry is tried with the keys of a further look at the vault.
    private static let attempts = 4

    let file: AccessLogFile
    private let held: Mutex<AccessLogKeys>

    /// The keys in force.
    private var keys: AccessLogKeys { held.withLock { $0 } }
    /// The number of the key that entries are entered under.
    var keyNumber: UInt32 { keys.number }

    /// The log of the vault in a directory; its file is made with the first entry.
    ///
    /// - Parameters:
    ///   - directory: The vault's; the caller has checked who may write there.
    ///   - mode: Exact permission bits of the files that this makes.
    ///   - keys: The log keys, at least one.
    ///   - maximumSize: From this size on the file rolls over.
    package init(
        directory: Directory, mode: mode_t, keys: AccessLogKeys, maximumSize: Int64 = AccessLog.maximumSize
    ) {
        file = AccessLogFile(directory: directory, mode: mode, maximumSize: maximumSize)
        held = Mutex(keys)
    }

    /// Goes on with the keys of a later look at the vault.
    func follow(_ keys: AccessLogKeys) { held.withLock { if keys.number >= $0.number { $0 = keys } } }

    /// Enters something that was done, is intended, or was refused.
    ///
    /// - Parameters:
    ///   - subject: What it is about, such as a service and an account in an encoding of the caller's; only a keyed hash
    ///     of it is entered.
    ///   - generation: The vault's, as it was or as the change makes it.
    ///   - durable: Whether the entry must have reached the disk before this returns. Costs a sync, outside the lock.
    ///   - timeLimit: How long to wait for others.
    /// - Returns: The log's head with this entry.
    /// - Throws: `FileError`. The log then is as before, except for `.durabilityUnknown`, where the entry stands but its
    ///   sync failed.
    @discardableResult
    package func append(
        _ event: AccessEvent, outcome: AccessOutcome = .succeeded, subject: [UInt8]? = nil, generation: UInt64,
        durable: Bool = false, timeLimit: Duration = AccessLog.timeLimit
    ) throws(FileError) -> AccessLogHead {
        let entry = NewEntry(event: event, outcome: outcome, generation: generation, subject: subject)
        return try append(entry, durable: durable, timeLimit: timeLimit) { false }
    }

    /// Enters something with the newest key.
    ///
    /// A rekey by another program gives the vault a later key. An entry under the former key behind one under the later key
    /// would not be authentic.
    /// - Parameters:
    ///   - isNewest: Whether the caller holds the vault's lock and has read the vault under it: then no later key is authentic.
    ///   - follow: Reads the vault again and goes on with its keys; answers whether it could. A later key that the vault then
    ///     does not have was forged: it keeps nobody from an entry.
    /// - Throws: `FileError`; `.overtaken` where there is an entry under a later key.
    func append(
        _ entry: NewEntry, isNewest: Bool = false, durable: Bool = false, timeLimit: Duration = AccessLog.timeLimit,
        follow: () -> Bool
    ) throws(FileError) -> AccessLogHead {
        var passing: UInt32 = isNewest ? .max : 0
        for _ in 0..<Self.attempts {
            let keys = keys
            guard keys.number > 0 else {
                throw FileError(
                    .permissionDenied, operation: "append to", path: file.directory.display(AccessLogFile.leaf))
            }
            let appended = try keys.withCurrent { key throws(FileError) in
                try file.append(
                    entry.draft(key), key: key, number: keys.number, passing: passing, durable: durable,
                    timeLimit: timeLimit)
            }
            switch appended {
            case .head(let head): return head
            case .laterKey(let number):
                guard follow() else { throw overtaken }
                passing = number
            }
        }
        throw overtaken
    }

    private var overtaken: FileError {
        FileError(
            .overtaken, operation: "append to", path: file.directory.display(AccessLogFile.leaf),
            advice: "It has entries under a later key: open the vault again.")
    }

    /// How entries name a subject: to find those about a known thing.
    package func subject(of bytes: [UInt8]) -> AccessSubject {
        keys.withCurrent { AccessSubject(of: bytes, $0) }
    }

    /// Enters an opening that failed, for which there is no key: anybody who may write the file could do the same. The
    /// next entry with a key covers it.
    ///
    /// - Parameter generation: The vault's, as far as its header tells without a key.
    package static func noteFailedOpening(
        in directory: Directory, mode: mode_t, outcome: AccessOutcome = .refused, generation: UInt64,
        timeLimit: Duration = AccessLog.timeLimit
    ) throws(FileError) {
        let draft = AccessDraft(event: .openFailed, outcome: outcome, generation: generation)
        let noKey = UnsafeRawBufferPointer(start: nil, count: 0)
        _ = try AccessLogFile(directory: directory, mode: mode)
            .append(draft, key: noKey, number: 0, durable: false, timeLimit: timeLimit)
    }
}

/// What is to be entered under the key that is in force then.
struct NewEntry {
    var event: AccessEvent
    var outcome = AccessOutcome.succeeded
    var generation: UInt64
    var subject: [UInt8]?

    fileprivate func draft(_ key: UnsafeRawBufferPointer) -> AccessDraft {
        AccessDraft(
            event: event, outcome: outcome, generation: generation,
            subject: subject.map { AccessSubject(of: $0, key) })
    }
}

extension AccessLog {
    /// Reads every entry that is kept, and checks the chain.
    ///
    /// - Parameter noted: The head as it was noted elsewhere, such as in the vault; nil to check the chain alone.
    package func verify(noted: AccessLogHead?) throws(FileError) -> AccessLogVerification {
        try read(noted: noted) { _, _ in }
    }

    /// Hands over every entry that is kept, oldest first, and whether it is authentic in its place.
    ///
    /// Takes no lock, so that it works where the log can't be written, and sees what was there when it began.
    package func read(
        noted: AccessLogHead?, _ body: (AccessEntry, _ isAuthentic: Bool) -> Void
    ) throws(FileError) -> AccessLogVerification {
        var check = AccessLogCheck(keys: keys, noted: noted)
        try file.forEachEntry { bytes, beginning in
            if let seen = check.take(bytes, beginning: beginning) { body(seen.entry, seen.isAuthentic) }
        } atEnd: { remainder in
            check.endFile(remainder: remainder)
        }
        return check.result()
    }

    /// Hands over the entries of a vault whose keys are not at hand: nothing says that they are authentic.
    package static func readUnverified(
        in directory: Directory, _ body: (AccessEntry) -> Void
    ) throws(FileError) {
        try AccessLogFile(directory: directory, mode: 0o600).forEachEntry { bytes, _ in
            let entry = bytes.part(AccessEntryLayout.codeSize, AccessEntryLayout.size)
            if entry.contains(where: { $0 != 0 }) { body(AccessEntry(parsing: entry)) }
        } atEnd: { _ in
        }
    }
}

/// The keys of a vault's access log, one for each period: earlier ones verify what was entered before a rekey.
package final class AccessLogKeys: Sendable {
    private let keys: [(number: UInt32, secret: SecretBytesBox)]

    /// - Parameter keys: At least one, ascending by number.
    init(_ keys: [(number: UInt32, secret: SecretBytesBox)]) { self.keys = keys }

    /// No key: nothing can be entered.
    static let none = AccessLogKeys([])

    /// A single key.
    package convenience init(_ key: consuming SecretBytes, number: UInt32 = 1) {
        self.init([(number, SecretBytesBox(key))])
    }

    /// The log keys among a compartment's secrets.
    ///
    /// - Parameter passingDamage: Whether keys that do not fit their entries are left out; no keys where none is left then.
    /// - Throws: `VaultError` `.corrupt`, `.outOfMemory`.
    convenience init?(
        _ secrets: SecretTable, period: UInt32, vaultID: [UInt8], root: RootKey, path: String,
        passingDamage: Bool = false
    ) throws(VaultError) {
        var keys: [(number: UInt32, secret: SecretBytesBox)] = []
        // One of a later period was planted to stay in force after a rekey.
        let entries = secrets.all(.logKey).filter { $0.number <= period }
        try WrappedSecrets.open(entries, passingDamage: passingDamage) { entry, output throws(VaultError) in
            try entry.unwrap(into: output, vaultID: vaultID, root: root, path: path)
        } _: { entry, secret throws(VaultError) in
            keys.append((entry.number, SecretBytesBox(secret)))
        }
        guard !keys.isEmpty else {
            if passingDamage { return nil }
            throw .corrupt(path, "It has no key for the access log.")
        }
        self.init(keys)
    }

    /// The number of the key in force.
    var number: UInt32 { keys.last?.number ?? 0 }

    /// Lends the key in force.
    func withCurrent<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let last = keys.last else { return try body(.none) }
        return try last.secret.secret.withUnsafeBytes(body)
    }

    /// How entries of any period name a subject.
    func subjects(of bytes: [UInt8]) -> Set<AccessSubject> {
        Set(keys.map { key in key.secret.secret.withUnsafeBytes { AccessSubject(of: bytes, $0) } })
    }

    /// Lends the key of a number; no bytes where there is none.
    func with<Result>(_ number: UInt32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let key = keys.first(where: { $0.number == number }) else { return body(.none) }
        return key.secret.secret.withUnsafeBytes(body)
    }
}
