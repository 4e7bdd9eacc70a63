package import CryptoPrimitives
package import Glibc
internal import Sealing
package import SharedFiles
internal import Synchronization

/// The access log of a vault: a file of chained entries next to it (`docs/spec/access-log.md`).
///
/// Safe for many processes and threads at once. It records what honest programs did, and detects later changes by
/// programs without the vault's keys. A program that has the keys can write any entry.
package final class AccessLog: Sendable {
    /// The time that an entry waits for others that append; each holds the lock for some microseconds.
    package static let timeLimit = Duration.milliseconds(250)
    /// The size at which a file rolls over: 32,768 entries.
    package static let maximumSize: Int64 = 8 << 20

    /// The number of times that an entry is tried with the keys of another look at the vault.
    private static let attempts = 4

    let file: AccessLogFile
    private let held: Mutex<AccessLogKeys>

    /// The keys in force.
    private var keys: AccessLogKeys { held.withLock { $0 } }
    /// The number of the key for new entries.
    var keyNumber: UInt32 { keys.number }

    /// Creates the log of the vault in a directory; the first entry creates its file.
    ///
    /// - Parameters:
    ///   - directory: The vault's directory; the caller has checked its permissions.
    ///   - mode: Exact permission bits of the files that the log creates.
    ///   - keys: The log keys, at least one.
    ///   - maximumSize: The size at which the file rolls over.
    package init(
        directory: Directory, mode: mode_t, keys: AccessLogKeys, maximumSize: Int64 = AccessLog.maximumSize
    ) {
        file = AccessLogFile(directory: directory, mode: mode, maximumSize: maximumSize)
        held = Mutex(keys)
    }

    /// Replaces the keys with those of a later look at the vault.
    func follow(_ keys: AccessLogKeys) { held.withLock { if keys.number >= $0.number { $0 = keys } } }

    /// Appends an entry for an event that was done, is intended, or was refused.
    ///
    /// - Parameters:
    ///   - subject: The subject, such as a service and an account in the caller's encoding; the entry contains only a
    ///     keyed hash of it.
    ///   - generation: The vault's generation at the event, or the one that the change writes.
    ///   - durable: Whether the entry must be on the disk before this returns. Costs a sync, outside the lock.
    ///   - timeLimit: The longest wait for the lock.
    /// - Returns: The log's head with this entry.
    /// - Throws: `FileError`. The log is then unchanged, except for `.durabilityUnknown`: the entry was written but its
    ///   sync failed.
    @discardableResult
    package func append(
        _ event: AccessEvent, outcome: AccessOutcome = .succeeded, subject: [UInt8]? = nil, generation: UInt64,
        durable: Bool = false, timeLimit: Duration = AccessLog.timeLimit
    ) throws(FileError) -> AccessLogHead {
        let entry = NewEntry(event: event, outcome: outcome, generation: generation, subject: subject)
        return try append(entry, durable: durable, timeLimit: timeLimit) { false }
    }

    /// Appends an entry with the newest key.
    ///
    /// A rekey by another program gives the vault a later key. An entry under the former key that follows one under the
    /// later key would not be authentic.
    /// - Parameters:
    ///   - isNewest: Whether the caller holds the vault's lock and has read the vault under it: then no later key is
    ///     authentic.
    ///   - follow: Reads the vault again and takes its keys; returns whether it succeeded. A later key that the vault
    ///     then does not contain was forged, and does not prevent the entry.
    /// - Throws: `FileError`; `.overtaken` if the log has an entry under a later key.
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
            advice: "It has entries under a later key; open the vault again.")
    }

    /// Returns the hash of a subject, for finding its entries.
    package func subject(of bytes: [UInt8]) -> AccessSubject {
        keys.withCurrent { AccessSubject(of: bytes, $0) }
    }

    /// Appends an entry for a failed opening, without a key: anyone with write access to the file could do the same.
    /// The next keyed entry covers it.
    ///
    /// - Parameter generation: The vault's generation, read from its header without a key.
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

/// An entry before the log has chosen its key.
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
    /// Reads every stored entry, and checks the chain.
    ///
    /// - Parameter noted: The head as it was noted elsewhere, such as in the vault; `nil` to check only the chain.
    package func verify(noted: AccessLogHead?) throws(FileError) -> AccessLogVerification {
        try read(noted: noted) { _, _ in }
    }

    /// Passes every stored entry to `body`, oldest first, and whether it is authentic in its place.
    ///
    /// Takes no lock, so that it works if the log is not writable, and reads the entries present when it began.
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

    /// Passes the entries of a vault whose keys are not available to `body`; nothing proves that they are authentic.
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

/// The keys of a vault's access log, one for each period: earlier ones verify entries from before a rekey.
package final class AccessLogKeys: Sendable {
    private let keys: [(number: UInt32, secret: SecretBytesBox)]

    /// - Parameter keys: At least one, ascending by number.
    init(_ keys: [(number: UInt32, secret: SecretBytesBox)]) { self.keys = keys }

    /// No keys: no entry can be written.
    static let none = AccessLogKeys([])

    /// Creates the keys from a single key.
    package convenience init(_ key: consuming SecretBytes, number: UInt32 = 1) {
        self.init([(number, SecretBytesBox(key))])
    }

    /// Unwraps the log keys among a compartment's secrets.
    ///
    /// - Parameter passingDamage: Whether to leave out keys that do not match their entries; `nil` if no key remains.
    /// - Throws: `VaultError` `.corrupt`, `.outOfMemory`.
    convenience init?(
        _ secrets: SecretTable, period: UInt32, vaultID: [UInt8], root: RootKey, path: String,
        passingDamage: Bool = false
    ) throws(VaultError) {
        var keys: [(number: UInt32, secret: SecretBytesBox)] = []
        // A key of a later period was planted to stay in force after a rekey.
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

    /// Returns the hashes of a subject under the keys of all periods.
    func subjects(of bytes: [UInt8]) -> Set<AccessSubject> {
        Set(keys.map { key in key.secret.secret.withUnsafeBytes { AccessSubject(of: bytes, $0) } })
    }

    /// Lends the key of a number, or no bytes if it is unknown.
    func with<Result>(_ number: UInt32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let key = keys.first(where: { $0.number == number }) else { return body(.none) }
        return key.secret.secret.withUnsafeBytes(body)
    }
}

/// Entries of the access log.
extension Vault {
    /// Logs an event that is no change. A log that cannot be written does not make it fail.
    func note(_ event: AccessEvent, subject: [UInt8]? = nil, outcome: AccessOutcome = .succeeded) {
        guard options.accessLog != .off else { return }
        let head = heldContents.serviceHead
        let write = VaultWrite(.service, period: head?.period ?? 0, generation: head?.generation ?? 0)
        let entry = NewEntry(event: event, outcome: outcome, generation: write.encoded, subject: subject)
        _ = try? log.append(entry) { (try? current()) != nil }
    }

    /// Logs a change before it is written.
    ///
    /// - Parameters:
    ///   - mayBeUnlogged: Whether the change is made even if the log cannot be written, under any policy.
    ///   - isKeyNewest: Whether the log's key was read under the vault's lock.
    /// - Returns: The log's head with the entry, and the number of its key; `nil` if the log is off, or could not be
    ///   written and need not be.
    /// - Throws: `VaultError` `.logFailed`.
    func noteChange(
        _ event: AccessEvent, _ subject: [UInt8]?, _ write: VaultWrite, mayBeUnlogged: Bool, isKeyNewest: Bool
    ) throws(VaultError) -> (AccessLogHead, UInt32)? {
        guard options.accessLog != .off else { return nil }
        do throws(FileError) {
            let entry = NewEntry(event: event, outcome: .intended, generation: write.encoded, subject: subject)
            let head = try log.append(entry, isNewest: isKeyNewest, durable: true) { false }
            return (head, log.keyNumber)
        } catch {
            guard options.accessLog == .requiredForChanges, !mayBeUnlogged else { return nil }
            throw VaultError(
                .logFailed, "change the vault", path, "Its access log cannot be written: \(error)",
                advice: "Free space for it, or allow changes that are not logged.", underlying: error)
        }
    }
}
