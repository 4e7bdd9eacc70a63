internal import AppGroups
internal import AuditReports
internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import PropertyLists
internal import SealedState
internal import Sealing
internal import SharedFiles

/// A file of a snapshot.
struct SnapshotFile {
    enum Seal: String {
        /// The file was not checked with a key.
        case unverified
        /// The file is authentic, in its place and in order.
        case verified
        /// The file's key requires a person.
        case locked
        case refused
    }

    /// The path relative to the container.
    let path: String
    let size: Int64
    /// The mode of the original. The copy is readable by its owner only.
    let mode: mode_t
    let modified: FileTime
    /// True if the file did not change while it was copied.
    var isSettled: Bool
    /// The hash by BLAKE2b-256, as in `b2sum -l 256`; `nil` for a file that was copied in parts.
    var hash: [UInt8]?
    /// The header as the file claims it; `nil` for a file that is not sealed.
    private(set) var header: BlobHeader?
    private(set) var seal: Seal?
    /// The reason of a refusal.
    private(set) var code: String?

    init(path: String, _ facts: FileAttributes, modified: FileTime, size: Int64, isSettled: Bool) {
        self.path = path
        record = RecordFile.name(of: path)?.text
        self.size = size
        self.isSettled = isSettled
        mode = facts.mode
        self.modified = modified
    }

    /// The name of the record, if the path is a record's place.
    let record: String?
    /// It is the database of the records, or the name of their backend.
    var isOfBackend: Bool { ContainerLayout.isDatabase(path) || path == ContainerLayout.backend }

    /// A record of the database.
    init(record: String, _ blob: [UInt8], _ store: SealedStore?) {
        self.record = record
        path = record
        size = Int64(blob.count)
        isSettled = true
        mode = 0o600
        modified = .now
        hash = BLAKE2b.hash(blob, count: 32)
        judge(blob, isWhole: true, store)
    }

    /// Judges the authenticity of the file.
    ///
    /// - Parameters:
    ///   - bytes: The whole file, or its beginning.
    ///   - store: The store; `nil` if nothing opens the vault.
    mutating func judge(_ bytes: [UInt8], isWhole: Bool, _ store: SealedStore?) {
        header = try? UnverifiedHeader(parsing: bytes).claimed
        guard header != nil || record != nil else { return }
        if let store, let header, let cover = MailFile.coverContext(of: path, header, in: store.group) {
            return judgeMessages(bytes, header, cover, store)
        }
        guard let store, let header, isWhole || header.kind == .stream else {
            (seal, code) = header == nil ? (.refused, StoreError.Code.malformed.rawValue) : (.unverified, nil)
            return
        }
        do throws(Failure) {
            try header.kind == .record ? verify(bytes, header, store) : verifyStream(bytes, header, store)
            seal = .verified
        } catch {
            seal = error.status == .locked ? .locked : .refused
            code = error.code
        }
    }

    /// Judges a file of a mailbox by the blob that begins it, and by its messages in the container.
    private mutating func judgeMessages(
        _ bytes: [UInt8], _ header: BlobHeader, _ cover: BlobContext, _ store: SealedStore
    ) {
        do throws(Failure) {
            try verifyHeader(bytes, header, cover, store)
            let messages = try Failure.onStore { () throws(StoreError) in try store.mailFaults(of: path) }
            if let fault = messages.faults.first { throw Failure(fault) }
            seal = .verified
        } catch {
            seal = error.status == .locked ? .locked : .refused
            code = error.code
        }
    }

    private func verify(_ bytes: [UInt8], _ header: BlobHeader, _ store: SealedStore) throws(Failure) {
        guard let record else {
            throw Failure(
                .dataError, StoreError.Code.wrongName.rawValue, "it is not in the place of a record", hint: "")
        }
        let context = try Failure.onStore { () throws(StoreError) in try store.places.place(stored: record).context }
        let keys = try Failure.onVault { () throws(VaultError) in try store.vault.keyring(toOpen: header.keyID) }
        let opened = bytes.withUnsafeBytes { blob -> Result<(VerifiedHeader, Authorisation), SealingError> in
            do throws(SealingError) {
                let opened = try BlobOpener.open(blob, context: context, keys: keys, limit: blob.count)
                return .success((opened.header, store.authorisation(of: opened, named: record)))
            } catch { return .failure(error) }
        }
        let (verified, authorisation): (VerifiedHeader, Authorisation)
        do throws(SealingError) { (verified, authorisation) = try opened.get() } catch {
            throw Failure(error, "verify", record)
        }
        if let refusal = authorisation.refusal {
            throw Failure(StoreError(refusal.code, "verify", record, refusal.reason))
        }
        guard let code = Self.refusal(store.reader.verdict(on: verified)) else { return }
        throw Failure(.dataError, code.rawValue, "it is out of order", hint: "")
    }

    private static func refusal(_ verdict: Watermark.Verdict) -> StoreError.Code? {
        switch verdict {
        case .advances, .same: nil
        case .replayed: .replayed
        case .forked: .forked
        case .jumps: .sequenceJump
        }
    }

    /// Verifies the beginning of a stream only; `sealctl inspect` reads all of it.
    private func verifyStream(_ bytes: [UInt8], _ header: BlobHeader, _ store: SealedStore) throws(Failure) {
        try verifyHeader(bytes, header, BlobContext(streamOf: store.group, tagged: header.nameTag), store)
    }

    private func verifyHeader(
        _ bytes: [UInt8], _ header: BlobHeader, _ context: BlobContext, _ store: SealedStore
    ) throws(Failure) {
        let keys = try Failure.onVault { () throws(VaultError) in try store.vault.keyring(toOpen: header.keyID) }
        let result = bytes.withUnsafeBytes { blob -> Result<Void, SealingError> in
            do throws(SealingError) {
                _ = try BlobOpener.verifyHeader(blob, context: context, keys: keys)
                return .success(())
            } catch { return .failure(error) }
        }
        do throws(SealingError) { try result.get() } catch { throw Failure(error, "verify", path) }
    }

    var json: JSONText {
        .object([
            ("path", .string(path)), ("size", .number(Int(size))), ("mode", .string(String(mode, radix: 8))),
            ("modifiedAt", .string(modified.rfc3339)),
            ("blake2b256", .optional(hash.map { $0.withUnsafeBytes { $0.hexadecimal } })),
            ("isSettled", .bool(isSettled)), ("record", .optional(record)),
            ("sequence", header.map { .unsigned($0.sequence) } ?? .null),
            ("epoch", header.map { .unsigned(UInt64($0.epoch)) } ?? .null),
            ("seal", .optional(seal?.rawValue)), ("code", .optional(code)),
        ])
    }
}

/// A file of a container that is open for copying.
final class OpenFile {
    /// The contents of a file, and the result of the check for concurrent changes.
    struct Contents {
        let bytes: [UInt8]
        let facts: FileAttributes
        let modified: FileTime
        let isSettled: Bool
    }

    private static let partSize: Int64 = 1 << 20
    private let file: Descriptor
    /// The attributes when the file was opened.
    let facts: FileAttributes
    /// The time of the last change at that moment.
    let modified: FileTime

    init(_ path: String, in container: Directory) throws(FileError) {
        file = try container.openForReading(path)
        facts = try file.attributes()
        modified = FileTime(seconds: facts.modifiedSeconds, nanoseconds: facts.modifiedSubsecond)
    }

    /// True if size and times of the file are as they were when it was opened.
    var isUnchanged: Bool {
        guard let now = try? file.attributes() else { return false }
        return now.size == facts.size && now.modifiedNanoseconds == facts.modifiedNanoseconds
    }

    func contents() throws(FileError) -> Contents {
        let (bytes, count) = try read(Int(facts.size), at: 0)
        return Contents(
            bytes: Array(bytes.prefix(count)), facts: facts, modified: modified,
            isSettled: count == Int(facts.size) && isUnchanged)
    }

    /// Returns the next part, of one mebibyte at most. A file that shrinks keeps its former size, padded with zeros.
    func part(at position: Int64) throws(FileError) -> [UInt8] {
        try read(Int(min(Self.partSize, facts.size - position)), at: position).bytes
    }

    private func read(_ size: Int, at position: Int64) throws(FileError) -> (bytes: [UInt8], count: Int) {
        var bytes = [UInt8](repeating: 0, count: size)
        let result = bytes.withUnsafeMutableBytes { buffer -> Result<Int, FileError> in
            do throws(FileError) { return .success(try file.pread(into: buffer, at: position)) } catch {
                return .failure(error)
            }
        }
        return (bytes, try result.get())
    }
}

/// The time of a file's last change, which may be before 1970 or beyond the range of 64-bit nanoseconds.
struct FileTime: Sendable, Equatable {
    /// Seconds since 1970; negative for earlier times.
    let seconds: Int64
    /// Nanoseconds after that second.
    let nanoseconds: Int

    init(seconds: Int64, nanoseconds: Int) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    static var now: FileTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return FileTime(seconds: Int64(time.tv_sec), nanoseconds: time.tv_nsec)
    }

    var systemTime: timespec { timespec(tv_sec: Int(seconds), tv_nsec: nanoseconds) }

    /// The time as RFC 3339 has it, `2026-11-21T03:30:00.000Z`, for the years 0 to 9999, or else the seconds.
    var rfc3339: String {
        guard (-62_167_219_200..<253_402_300_800).contains(seconds) else { return "\(seconds) s" }
        return CivilTime(secondsSince1970: Int(seconds)).text(milliseconds: nanoseconds / 1_000_000)
    }
}
