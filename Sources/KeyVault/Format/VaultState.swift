internal import Sealing

/// What a vault remembers about itself (`docs/vault.md`, section 4): rotation, slot numbering, the access log's head.
struct VaultState: Hashable, Sendable {
    static let encodedSize = 96

    /// Where a rotation stands.
    enum Rotation: UInt32, Sendable {
        case none = 0
        /// Blobs are being resealed; keys of the epochs before the active one still open them.
        case resealing = 1
        /// Every blob was resealed; blobs of earlier epochs are refused.
        case completed = 2
    }

    /// Blobs of an earlier epoch are refused, whoever sealed them.
    var minimumEpoch: UInt32 = 1
    var rotation = Rotation.none
    /// When the last rotation began and when it was completed, in milliseconds since 1970; 0 for never.
    var rotationBegan: UInt64 = 0
    var rotationCompleted: UInt64 = 0
    /// The number that the next slot gets; none is used twice.
    var nextSlotID: UInt32 = 1
    /// How far the access log had come at the last change.
    var logHead = AccessLogHead.empty
    /// Which when-unlocked key the slots give; all zero while none does.
    var whenUnlockedID = WhenUnlockedKeyID.none

    init() {}

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(minimumEpoch)
        writer.append(rotation.rawValue)
        writer.append(rotationBegan)
        writer.append(rotationCompleted)
        writer.append(nextSlotID)
        writer.append(UInt32(0))
        writer.append(logHead.encoded)
        whenUnlockedID.withUnsafeBytes { writer.append($0) }
        writer.append(UInt64(0))
        return writer.bytes
    }

    init(parsing section: ArraySlice<UInt8>, path: String) throws(VaultError) {
        var reader = ByteReader(section, path: path)
        minimumEpoch = try reader.integer()
        let rotation: UInt32 = try reader.integer()
        rotationBegan = try reader.integer()
        rotationCompleted = try reader.integer()
        nextSlotID = try reader.integer()
        let reserved: UInt32 = try reader.integer()
        let head = try reader.take(AccessLogHead.encodedSize)
        let keyID = try reader.take(16)
        let alsoReserved: UInt64 = try reader.integer()
        guard let known = Rotation(rawValue: rotation), reserved == 0, alsoReserved == 0, reader.isAtEnd,
            let head = AccessLogHead(decoding: head)
        else { throw VaultError(.unsupported, "open the vault", path, "Its state section is of a newer form.") }
        self.rotation = known
        logHead = head
        whenUnlockedID = keyID.withUnsafeBytes { Bytes16($0) }
    }
}
