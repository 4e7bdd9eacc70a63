internal import CryptoPrimitives
internal import KeyVault
internal import Sealing

/// Whether a header that names an unknown key, epoch or format is a damaged one, or one that a newer vault or program
/// wrote (docs/decisions/0004).
struct HeaderDamage {
    private let prefix: [UInt8]
    private let place: RecordPlace
    private let watermarks: WatermarkTable
    private let vault: Vault
    private let keyring: Keyring

    /// - Parameter prefix: The blob's first 176 bytes, or less where it is shorter.
    init(_ prefix: [UInt8], _ place: RecordPlace, _ reader: RecordReader) {
        self.prefix = prefix
        self.place = place
        watermarks = reader.watermarks
        vault = reader.keys.vault
        keyring = vault.keyring
    }

    /// What the header claims of the sequence, where it is this record's.
    var claim: RefusedBlob.Claim {
        guard let header = claimed, header.nameTag == place.context.nameTag else { return .none }
        return .asserted(header.sequence)
    }

    /// What the header says of the sequence where the blob is at fault, and neither the vault nor this program; nil where
    /// that is not evident.
    func evidentClaim(_ code: StoreError.Code) -> RefusedBlob.Claim? {
        switch code {
        // A newer program's blob looks just like that, and nothing that this user ever accepted speaks against it.
        case .unsupportedFormat: mendedClaim
        case .unknownKey, .wrongEpoch: mendedClaim ?? (isOfKnownTime ? claim : nil)
        default: nil
        }
    }

    /// The same for a header that is malformed: a flipped bit of the writer's id or of the flag of signed blobs is evident.
    var malformedClaim: RefusedBlob.Claim { mendedClaim ?? claim }

    private var mendedClaim: RefusedBlob.Claim? {
        guard let mended else { return nil }
        return watermarks.verdict(on: mended) == .jumps
            ? RefusedBlob.Claim.none : .authentic(mended.header.sequence)
    }

    /// Whether the vault has accepted states of this record before and knows of every epoch up to the one that the header
    /// names: then a key of that epoch which it has never held is nobody's. A later epoch may be that of a vault which
    /// was put back to an earlier state.
    private var isOfKnownTime: Bool {
        guard let header = claimed, header.nameTag == place.context.nameTag,
            watermarks.mark(of: place.context.nameTag) != nil, let keys = try? vault.keySummaries()
        else { return false }
        if keys.contains(where: { $0.id == header.keyID }) { return true }
        // Each class counts its own epochs: of neither may that epoch be yet to come. Without persons there is one class.
        let hasPersons = (try? vault.slots())?.contains { $0.reach == .whenUnlocked } ?? true
        return ProtectionClass.allCases.allSatisfy { protection in
            let epochs = keys.filter { $0.protection == protection }.map(\.epoch)
            return epochs.max().map { $0 >= header.epoch } ?? (protection == .whenUnlocked && !hasPersons)
        }
    }

    private var claimed: BlobHeader? { try? UnverifiedHeader(parsing: prefix).claimed }
}

// Mending: the fields in doubt are put right on a copy, and a key of the vault then has to vouch for all of the header.
extension HeaderDamage {
    private static let noWriter = [UInt8](repeating: 0, count: 16)

    private enum Field {
        static let format = 4, suite = 5, kind = 6, flags = 7
        static let epoch = 12..<16, keyID = 48..<64, writer = 88..<104, codec = 104, reserved = 105..<112
    }

    /// The header as a key at hand has sealed it for this place, where only the fields in doubt differ from it.
    private var mended: VerifiedHeader? {
        guard prefix.count >= BlobLayout.headerSize else { return nil }
        return keyring.ids.lazy.compactMap { keyring.sealingKey(for: $0) }.compactMap(mended(by:)).first
            ?? keyring.lockedIDs.lazy.compactMap(lentKey).compactMap(mended(by:)).first
    }

    /// A key of *when unlocked*, for this one look; nil while it is locked.
    private func lentKey(_ id: KeyID) -> SealingKey? { try? vault.keyring(toOpen: id).sealingKey(for: id) }

    private func mended(by key: SealingKey) -> VerifiedHeader? {
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
