internal import CryptoPrimitives
internal import KeyVault
internal import Sealing

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
