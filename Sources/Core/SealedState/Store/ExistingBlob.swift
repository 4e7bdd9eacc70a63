internal import KeyVault
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
/// the header is judged anew each time.
package final class SeenHeader {
    private var bytes: [UInt8] = []
    private var header: VerifiedHeader?

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
        if let authority, authority.governs(place.name.text) { return try governedBlob(at: place) }
        let prefix: [UInt8]?
        do throws(FileError) {
            prefix = try backend.readPrefix(place.address, count: BlobLayout.headerSize)
        } catch {
            // A planted link or pipe: the rename replaces it with the new blob and never follows it.
            guard error.code == .notRegularFile || error.code == .unsafePath else {
                throw StoreError(writing: error, place.name.text)
            }
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
        var verdict = watermarks.verdict(on: header)
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
        case .value(let header): "sequence \(header.sequence) is there"
        case .tombstone(let header): "it was deleted (sequence \(header.header.sequence))"
        case .refused(let blob): "what is there is refused (\(blob.rejection.code.rawValue))"
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
        return watermarks.mark(of: name) != nil && !watermarks.isPurged(name)
    }
}
