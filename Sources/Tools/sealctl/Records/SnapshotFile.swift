internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles

/// One file of a snapshot.
struct SnapshotFile {
    enum Seal: String {
        /// Nobody looked with a key.
        case unverified
        /// Authentic, in its place and in order.
        case verified
        /// Its key needs a person.
        case locked
        case refused
    }

    /// Below the container.
    let path: String
    let size: Int64
    /// As it was; the copy is its owner's alone.
    let mode: mode_t
    let modified: FileTime
    /// Whether nobody wrote to it while it was copied.
    var isSettled: Bool
    /// BLAKE2b-256, as b2sum -l 256 has it; nil for what was copied in parts.
    var hash: [UInt8]?
    /// As it claims; nil for what is not sealed.
    private(set) var header: BlobHeader?
    private(set) var seal: Seal?
    /// Why it is refused.
    private(set) var code: String?

    init(path: String, _ facts: FileAttributes, modified: FileTime, size: Int64, isSettled: Bool) {
        self.path = path
        self.size = size
        self.isSettled = isSettled
        mode = facts.mode
        self.modified = modified
    }

    /// The name of the record whose place this is.
    var record: String? { RecordFile.name(of: path)?.text }

    /// Says whether it can be believed.
    ///
    /// - Parameters:
    ///   - bytes: The whole file, or its beginning.
    ///   - store: Nil where nothing opens the vault.
    mutating func judge(_ bytes: [UInt8], isWhole: Bool, _ store: SealedStore?) {
        header = try? UnverifiedHeader(parsing: bytes).claimed
        guard header != nil || record != nil else { return }
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

    private func verify(_ bytes: [UInt8], _ header: BlobHeader, _ store: SealedStore) throws(Failure) {
        guard let record else {
            throw Failure(.dataError, StoreError.Code.wrongName.rawValue, "it lies in no record's place", hint: "")
        }
        let context = try Failure.onStore { () throws(StoreError) in try store.context(ofRecord: record) }
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
        guard let code = Self.refusal(store.verdict(on: verified)) else { return }
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

    /// Its beginning only: sealctl inspect reads all of it.
    private func verifyStream(_ bytes: [UInt8], _ header: BlobHeader, _ store: SealedStore) throws(Failure) {
        let keys = try Failure.onVault { () throws(VaultError) in try store.vault.keyring(toOpen: header.keyID) }
        let context = BlobContext(streamOf: store.group, tagged: header.nameTag)
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
