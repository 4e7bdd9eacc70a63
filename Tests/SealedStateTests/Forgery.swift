import CryptoPrimitives
import FoundationEssentials
import SealedState
import Sealing

/// A blob that a holder of the group's key can make, sound unless changed.
struct Forgery {
    var group: String
    var name = Note.recordName
    var kind = BlobKind.record
    var key: SealingKey
    var flags: BlobFlags = []
    var schemaVersion = UInt32(Note.schemaVersion)
    var sequence: UInt64 = 1
    var sealedAt = Date()
    var notAfter: Date?
    var codec = PayloadCodec.json
    var payload = Payload.sound
    /// Bits that are flipped after sealing: offset and mask; negative offsets count from the end.
    var flips: [(offset: Int, mask: UInt8)] = []
    /// The number of bytes that remain; `nil` for all.
    var kept: Int?
    /// The number of zero bytes that are appended.
    var added = 0

    /// The plaintext that is sealed.
    struct Payload {
        var text = "sound"
        var depth = 0
        var isBroken = false
        var raw: [UInt8]?

        static let sound = Payload()
        static func bytes(_ bytes: [UInt8]) -> Payload { Payload(raw: bytes) }

        var bytes: [UInt8] {
            if let raw { return raw }
            let nested = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            let extra = depth > 0 ? #","extra":\#(nested)"# : ""
            return Array(#"{"text":"\#(text)","number":\#(isBroken ? "null" : "7")\#(extra)}"#.utf8)
        }
    }

    init(_ store: SealedStore) throws {
        group = store.group.identifier
        key = try store.vault.activeKey()
    }

    var blob: [UInt8] {
        let context = BlobContext(group: group, kind: kind, name: name)
        var description = BlobDescription(
            record: context, flags: flags, schemaVersion: schemaVersion, sequence: sequence,
            sealedAt: milliseconds(sealedAt), notAfter: notAfter.map(milliseconds) ?? 0, codec: codec)
        if kind == .stream { description = BlobDescription(stream: context, sealedAt: milliseconds(sealedAt)) }
        var blob = payload.bytes.withRawBytes { BlobSealer.seal($0, as: description, key: key) }
        for flip in flips { blob[flip.offset < 0 ? blob.count + flip.offset : flip.offset] ^= flip.mask }
        return blob.prefix(kept ?? blob.count) + [UInt8](repeating: 0, count: added)
    }

    private func milliseconds(_ date: Date) -> UInt64 { UInt64(date.timeIntervalSince1970 * 1000) }
}

/// The offsets of the header's fields (docs/spec/format.md, section 2).
enum Field {
    static let format = 4, flags = 7, epoch = 12, keyID = 48, sequence = 64, commitment = 144, end = 176
}
