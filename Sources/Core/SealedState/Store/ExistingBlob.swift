internal import CryptoPrimitives
internal import KeyVault
internal import SealedBackends
package import Sealing
internal import SharedFiles

/// The content of a record's place, as far as a write needs to know: only headers are opened for it.
package enum ExistingBlob {
    case nothing
    /// A value whose header readers accept.
    case value(BlobHeader)
    /// A deletion that readers accept.
    case tombstone(VerifiedHeader)
    /// A blob that readers refuse.
    case refused(RefusedBlob)
}

/// A blob that readers refuse and that a write may replace.
package struct RefusedBlob {
    /// The header's claim of a sequence.
    enum Claim {
        case none
        /// A sequence that any program may have written.
        case asserted(UInt64)
        /// A sequence sealed by a holder of a key.
        case authentic(UInt64)
    }

    package let rejection: StoreError
    let claim: Claim
    /// A regular file, which can be kept; `false` for links, pipes and the like.
    var isFile = true
}

/// The header that was verified last under one name during a write. Bytes that are read again unchanged need no key;
/// the header is judged again each time.
package final class SeenHeader {
    private var bytes: [UInt8] = []
    private var header: VerifiedHeader?
    /// The blob that the write was decided on, as the condition of the write.
    private(set) var condition: BackendWrite.Condition?
    /// Another blob was found later: the decision does not hold any more.
    private(set) var isOvertaken = false

    /// Remembers the blob that was found in the record's place: its bytes, or the first 176 of them.
    func observe(_ blob: [UInt8]?) {
        let found = blob.map { BackendWrite.Condition.version(BlobVersion(of: $0)) } ?? .absent
        if let condition, condition != found { isOvertaken = true }
        condition = found
    }

    /// Remembers the blob that this write has put in the record's place.
    func written(_ blob: [UInt8]) { condition = .version(BlobVersion(of: blob)) }

    /// Returns the blob that the write was decided on; throws if there is another one by now.
    func requiredCondition(_ place: RecordPlace) throws(StoreError) -> BackendWrite.Condition {
        if isOvertaken { throw StoreError(writing: .overtaken(place.key), place.name.text) }
        return condition ?? .any
    }

    /// The first 176 bytes of the blob that the write was decided on, once its header was verified. The commit compares
    /// the blob that is then stored with it, so that it need not be read again.
    var decided: [UInt8]? {
        guard header != nil, !isOvertaken, condition == .version(BlobVersion(of: bytes)) else { return nil }
        return bytes
    }

    /// Begins again with another decision.
    func begin() {
        condition = nil
        isOvertaken = false
    }

    /// Remembers a verified header.
    ///
    /// - Parameter blob: The blob that begins with it, or its first 176 bytes.
    func note(_ header: VerifiedHeader, of blob: [UInt8]) {
        bytes = Array(blob.prefix(BlobLayout.headerSize))
        self.header = header
    }

    /// Returns the verified header with these bytes, if it is the last one.
    func header(of prefix: [UInt8]) -> VerifiedHeader? { prefix == bytes ? header : nil }
}

extension RecordReader {
    /// Reads what is stored in a place.
    ///
    /// - Parameter seen: The header that was verified before the lock was taken, or earlier under the lock.
    /// - Throws: `StoreError` for a blob that must not be replaced, because the vault or this program may be wrong
    ///   (docs/decisions/0004), and for a place that cannot be read.
    package func existing(at place: RecordPlace, seen: SeenHeader? = nil) throws(StoreError) -> ExistingBlob {
        if let authority, authority.governs(place.name.text) { return try governedBlob(at: place, seen) }
        var prefix = seen?.decided
        do throws(BackendError) {
            if prefix == nil {
                prefix = try backend.head(place.key)?.bytes
                if isCompared { seen?.observe(prefix) }
            }
        } catch {
            // A planted link or pipe: the rename replaces it with the new blob and never follows it.
            guard error.code == .notABlob else { throw StoreError(writing: error, place.name.text) }
            let rejection = StoreError(error, "replace", place.name.text)
            return .refused(RefusedBlob(rejection: rejection, claim: .none, isFile: false))
        }
        guard let prefix else { return .nothing }
        let header: VerifiedHeader
        do throws(StoreError) { header = try verified(prefix, place, seen) } catch {
            return .refused(try replaceable(prefix, error, place))
        }
        return judged(header, place)
    }

    private func verified(
        _ prefix: [UInt8], _ place: RecordPlace, _ seen: SeenHeader?
    ) throws(StoreError) -> VerifiedHeader {
        // A key of *when unlocked* is requested each time: the vault may have been locked since.
        if let known = seen?.header(of: prefix), keys.vault.keyring.sealingKey(for: known.header.keyID) != nil {
            try keys.requireCurrent(known.header, "replace", place)
            return known
        }
        let header = try keys.verifyHeader(prefix, "replace", place)
        seen?.note(header, of: prefix)
        return header
    }

    func judged(_ header: VerifiedHeader, _ place: RecordPlace) -> ExistingBlob {
        var verdict = verdict(on: header)
        // At the limit of what readers believe: readers that have not read this blob would refuse the next sequence.
        if verdict == .advances, reachesMaximumJump(header.header) { verdict = .jumps }
        do throws(StoreError) { try judge(verdict, header.header, place) } catch {
            // Every reader refuses a jump, and would refuse the sequence after it as well.
            let claim: RefusedBlob.Claim = verdict == .jumps ? .none : .authentic(header.header.sequence)
            return .refused(RefusedBlob(rejection: error, claim: claim))
        }
        return header.header.flags.contains(.tombstone) ? .tombstone(header) : .value(header.header)
    }

    private func reachesMaximumJump(_ header: BlobHeader) -> Bool {
        guard let mark = watermarks.mark(of: header.nameTag) else {
            return header.sequence >= Watermark.maximumFirstSequence
        }
        return header.sequence > mark.sequence && header.sequence - mark.sequence >= Watermark.maximumJump
    }

    /// The codes of faults in the blob itself. All other faults may be the vault's or the program's.
    private static let replaceableCodes: Set<StoreError.Code> = [
        .malformed, .wrongKind, .wrongGroup, .wrongName, .wrongSuite, .wrongCommitment, .retiredEpoch, .tooLarge,
        .downgraded,
    ]

    /// Returns a blob that readers refuse and a write may replace.
    ///
    /// - Throws: The rejection itself if the blob may be right and the vault or the program wrong.
    func replaceable(
        _ prefix: [UInt8], _ rejection: StoreError, _ place: RecordPlace
    ) throws(StoreError) -> RefusedBlob {
        let damage = HeaderDamage(prefix, place, self)
        if Self.replaceableCodes.contains(rejection.code) || keys.isKeyDestroyed(of: prefix) {
            let claim = rejection.code == .malformed ? damage.malformedClaim : damage.claim
            return RefusedBlob(rejection: rejection, claim: claim)
        }
        guard let claim = damage.evidentClaim(rejection.code) else { throw rejection }
        return RefusedBlob(rejection: rejection, claim: claim)
    }
}

extension ExistingBlob {
    var isNothing: Bool {
        if case .nothing = self { true } else { false }
    }
}

/// Texts for a refused write.
extension ExistingBlob {
    /// The reason why readers refuse it, if they do.
    var rejection: StoreError? {
        if case .refused(let blob) = self { blob.rejection } else { nil }
    }

    /// As the end of a sentence.
    var text: String {
        switch self {
        case .nothing: "nothing is there"
        case .value(let header): "sequence \(header.sequence) is stored"
        case .tombstone(let header): "it was deleted (sequence \(header.header.sequence))"
        case .refused(let blob): "the stored blob is refused (\(blob.rejection.code.rawValue))"
        }
    }
}

extension WriteCondition {
    /// As the beginning of a sentence.
    var text: String {
        switch self {
        case .always: "Anything was expected"
        case .absent: "Nothing was expected"
        case .sequence(let sequence): "Sequence \(sequence) was expected"
        }
    }
}

extension RecordReader {
    /// Returns `true` if a required file is missing: a state of the record was accepted, and it was not purged.
    func isMissing(_ place: RecordPlace) -> Bool {
        let name = place.context.nameTag
        return presentMark(of: name) != nil && !watermarks.isPurged(name)
    }
}

/// Decides for a header that names an unknown key, epoch or format: it is damaged, or a newer vault or program wrote it
/// (docs/decisions/0004).
struct HeaderDamage {
    private let prefix: [UInt8]
    private let place: RecordPlace
    private let watermarks: WatermarkTable
    private let vault: Vault
    private let keyring: Keyring

    /// - Parameter prefix: The blob's first 176 bytes, or less if the blob is shorter.
    init(_ prefix: [UInt8], _ place: RecordPlace, _ reader: RecordReader) {
        self.prefix = prefix
        self.place = place
        watermarks = reader.watermarks
        vault = reader.keys.vault
        keyring = vault.keyring
    }

    /// The sequence that the header claims, if the header is this record's.
    var claim: RefusedBlob.Claim {
        guard let header = claimed, header.nameTag == place.context.nameTag else { return .none }
        return .asserted(header.sequence)
    }

    /// Returns the header's claim of a sequence if the blob is evidently at fault, not the vault or this program;
    /// otherwise `nil`.
    func evidentClaim(_ code: StoreError.Code) -> RefusedBlob.Claim? {
        switch code {
        // A newer program's blob looks the same, and no state that this user has accepted contradicts it.
        case .unsupportedFormat: repairedClaim
        case .unknownKey, .wrongEpoch: repairedClaim ?? (isOfKnownTime ? claim : nil)
        default: nil
        }
    }

    /// The claim of a malformed header. A flipped bit in the writer's id or in the flag of signed blobs is evident.
    var malformedClaim: RefusedBlob.Claim { repairedClaim ?? claim }

    private var repairedClaim: RefusedBlob.Claim? {
        guard let repaired else { return nil }
        return watermarks.verdict(on: repaired) == .jumps
            ? RefusedBlob.Claim.none : .authentic(repaired.header.sequence)
    }

    /// Indicates that the vault has accepted states of this record before and knows every epoch up to the one that the
    /// header names: a key of that epoch that the vault has never held does not exist. A later epoch may belong to a
    /// vault that was later restored to an earlier state.
    private var isOfKnownTime: Bool {
        guard let header = claimed, header.nameTag == place.context.nameTag,
            watermarks.mark(of: place.context.nameTag) != nil, let keys = try? vault.keySummaries()
        else { return false }
        if keys.contains(where: { $0.id == header.keyID }) { return true }
        // Each class counts its own epochs: the epoch must not be ahead in either class. Without persons there is one
        // class.
        let hasPersons = (try? vault.slots())?.contains { $0.reach == .whenUnlocked } ?? true
        return ProtectionClass.allCases.allSatisfy { protection in
            let epochs = keys.filter { $0.protection == protection }.map(\.epoch)
            return epochs.max().map { $0 >= header.epoch } ?? (protection == .whenUnlocked && !hasPersons)
        }
    }

    private var claimed: BlobHeader? { try? UnverifiedHeader(parsing: prefix).claimed }
}

// Repair: the doubtful fields are corrected on a copy, and a key of the vault must then verify the whole header.
extension HeaderDamage {
    private static let noWriter = [UInt8](repeating: 0, count: 16)

    private enum Field {
        static let format = 4, suite = 5, kind = 6, flags = 7
        static let epoch = 12..<16, keyID = 48..<64, writer = 88..<104, codec = 104, reserved = 105..<112
    }

    /// The header as an available key sealed it for this place, with only the doubtful fields changed.
    private var repaired: VerifiedHeader? {
        guard prefix.count >= BlobLayout.headerSize else { return nil }
        return keyring.ids.lazy.compactMap { keyring.sealingKey(for: $0) }.compactMap(repaired(by:)).first
            ?? keyring.lockedIDs.lazy.compactMap(lentKey).compactMap(repaired(by:)).first
    }

    /// Returns a key of *when unlocked* for this one check; `nil` while the key is locked.
    private func lentKey(_ id: KeyID) -> SealingKey? { try? vault.keyring(toOpen: id).sealingKey(for: id) }

    private func repaired(by key: SealingKey) -> VerifiedHeader? {
        var header = prefix
        header[Field.format] = BlobLayout.format
        header[Field.suite] = BlobSuite.xchacha20poly1305Blake2b.rawValue
        header[Field.kind] = BlobKind.record.rawValue
        for index in Field.reserved { header[index] = 0 }
        header.replaceSubrange(Field.keyID, with: key.id.bytes.withUnsafeBytes { Array($0) })
        header.replaceSubrange(Field.epoch, with: withUnsafeBytes(of: key.epoch.littleEndian) { Array($0) })
        for flags in flags {
            header[Field.flags] = flags
            // Only a signed blob has a writer.
            let isSigned = BlobFlags(rawValue: flags).contains(.signed)
            let writer = isSigned ? prefix[Field.writer] : Self.noWriter[...]
            header.replaceSubrange(Field.writer, with: writer)
            for codec in codecs {
                header[Field.codec] = codec
                if let verified = verified(header, by: key) { return verified }
            }
        }
        return nil
    }

    private func verified(_ header: [UInt8], by key: SealingKey) -> VerifiedHeader? {
        header.withRawBytes { bytes in
            try? BlobOpener.verifyHeader(bytes, context: place.context, keys: key)
        }
    }

    private var flags: [UInt8] {
        let known = BlobFlags.known.rawValue
        let found = prefix[Field.flags]
        return found & ~known == 0 ? [found, found ^ BlobFlags.signed.rawValue] : Array(0...known)
    }

    private var codecs: [UInt8] {
        PayloadCodec(rawValue: prefix[Field.codec]) == nil ? [0, 1, 2] : [prefix[Field.codec]]
    }
}
