package import CryptoPrimitives
package import Glibc
internal import Sealing
package import SharedFiles

/// Who did what with a vault, and when: a file of chained entries beside it (`docs/access-log.md`).
///
/// Safe for many processes and threads at once. It tells what honest programs did, and whether somebody without the
/// vault's keys has changed that later; a program that holds the keys can write what it likes.
package final class AccessLog: Sendable {
    /// How long an entry waits for others that append; each holds the lock for some microseconds.
    package static let timeLimit = Duration.milliseconds(250)
    /// From here on a file rolls over: 32,768 entries.
    package static let maximumSize: Int64 = 8 << 20

    let file: AccessLogFile
    private let key: SecretBytes

    /// The log of the vault in a directory; its file is made with the first entry.
    ///
    /// - Parameters:
    ///   - directory: The vault's; the caller has checked who may write there.
    ///   - mode: Exact permission bits of the files that this makes.
    ///   - key: The log key; 16 to 64 bytes.
    ///   - maximumSize: From this size on the file rolls over.
    package init(
        directory: Directory, mode: mode_t, key: consuming SecretBytes,
        maximumSize: Int64 = AccessLog.maximumSize
    ) {
        file = AccessLogFile(directory: directory, mode: mode, maximumSize: maximumSize)
        self.key = key
    }

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
        let draft = AccessDraft(
            event: event, outcome: outcome, generation: generation, subject: subject.map(self.subject(of:)))
        return try append(draft, durable: durable, timeLimit: timeLimit)
    }

    func append(_ draft: AccessDraft, durable: Bool, timeLimit: Duration) throws(FileError) -> AccessLogHead {
        try key.withUnsafeBytes { key throws(FileError) in
            try file.append(draft, key: key, durable: durable, timeLimit: timeLimit)
        }
    }

    /// How entries name a subject: to find those about a known thing.
    package func subject(of bytes: [UInt8]) -> AccessSubject {
        key.withUnsafeBytes { key in
            AccessSubject(
                bytes: Bytes16(filling: { hash in
                    bytes.withUnsafeBytes { BLAKE2b.hash($0, key: key, personalization: .accessSubject, into: hash) }
                }))
        }
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
            .append(draft, key: noKey, durable: false, timeLimit: timeLimit)
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
        try key.withUnsafeBytes { key throws(FileError) in
            var check = AccessLogCheck(key: key, noted: noted)
            try file.forEachEntry { bytes, beginning in
                if let seen = check.take(bytes, beginning: beginning) { body(seen.entry, seen.isAuthentic) }
            } atEnd: { remainder in
                check.endFile(remainder: remainder)
            }
            return check.result()
        }
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
