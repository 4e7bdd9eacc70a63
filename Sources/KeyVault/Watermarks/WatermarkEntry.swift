internal import CryptoPrimitives
internal import Sealing

extension Personalization {
    /// The code of one entry of a watermark file; `docs/watermarks.md` lists it.
    static let watermarkEntry = Personalization("SealedState.wme1")
    /// Tells the notes of two roots apart within a process; it is never written.
    static let watermarkIdentifier = Personalization("SealedState.wmi1")
}

/// One accepted state as it is remembered on disk: 128 bytes, authenticated, in clear (`docs/watermarks.md`).
///
/// It holds nothing that the blob's own header does not show.
struct WatermarkEntry: Hashable, Sendable {
    static let size = 128
    private static let codedSize = 96

    let name: NameTag
    let mark: Watermark
    /// Whether the blob was written durably: a power loss cannot have taken it back.
    let isDurable: Bool
    /// The boot in which it was accepted.
    let boot: BootID

    func encoded(key: borrowing SecretBytes) -> [UInt8] {
        key.withUnsafeBytes { key in
            [UInt8](unsafeUninitializedCapacity: Self.size) { buffer, count in
                let entry = UnsafeMutableRawBufferPointer(buffer)
                encode(into: entry)
                let code = Self.code(UnsafeRawBufferPointer(rebasing: entry[0..<Self.codedSize]), key)
                entry.storeBytes(of: code, toByteOffset: Self.codedSize, as: Bytes32.self)
                count = Self.size
            }
        }
    }

    /// Writes everything before the code.
    private func encode(into entry: UnsafeMutableRawBufferPointer) {
        entry.initializeMemory(as: UInt8.self, repeating: 0)
        entry.storeBytes(of: name.bytes, toByteOffset: 0, as: Bytes16.self)
        entry.storeBytes(of: mark.epoch.littleEndian, toByteOffset: 16, as: UInt32.self)
        entry.storeBytes(of: UInt32(isDurable ? 1 : 0).littleEndian, toByteOffset: 20, as: UInt32.self)
        entry.storeBytes(of: mark.sequence.littleEndian, toByteOffset: 24, as: UInt64.self)
        entry.storeBytes(of: mark.commitment?.bytes ?? .zero, toByteOffset: 32, as: Bytes32.self)
        entry.storeBytes(of: boot.bytes, toByteOffset: 64, as: Bytes16.self)
    }

    /// Reads an entry; nil when its code does not fit.
    init?(parsing entry: UnsafeRawBufferPointer, key: borrowing SecretBytes) {
        guard entry.count == Self.size else { return nil }
        let code = key.withUnsafeBytes {
            Self.code(UnsafeRawBufferPointer(rebasing: entry[0..<Self.codedSize]), $0)
        }
        let isAuthentic = code.withUnsafeBytes {
            ConstantTime.areEqual($0, UnsafeRawBufferPointer(rebasing: entry[Self.codedSize...]))
        }
        let flags = UInt32(littleEndian: entry.loadUnaligned(fromByteOffset: 20, as: UInt32.self))
        guard isAuthentic, flags <= 1 else { return nil }
        name = NameTag(bytes: Bytes16(entry))
        mark = Watermark(
            epoch: UInt32(littleEndian: entry.loadUnaligned(fromByteOffset: 16, as: UInt32.self)),
            sequence: UInt64(littleEndian: entry.loadUnaligned(fromByteOffset: 24, as: UInt64.self)),
            commitment: Commitment(bytes: Bytes32(UnsafeRawBufferPointer(rebasing: entry[32..<64]))))
        isDurable = flags == 1
        boot = BootID(bytes: Bytes16(UnsafeRawBufferPointer(rebasing: entry[64..<80])))
    }

    init(name: NameTag, mark: Watermark, isDurable: Bool, boot: BootID) {
        self.name = name
        self.mark = mark
        self.isDurable = isDurable
        self.boot = boot
    }

    /// What still holds in `now`'s boot: all of it within its own boot; after a restart one less than what was durable,
    /// since a crash may take back a write or a reseal that was not yet acknowledged, with its epoch; nothing of what was
    /// not.
    func floor(in now: BootID) -> Watermark? {
        if boot == now { return mark }
        guard isDurable, mark.sequence > 0 else { return nil }
        return Watermark(epoch: 0, sequence: mark.sequence - 1, commitment: nil)
    }

    private static func code(_ bytes: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) -> Bytes32 {
        Bytes32(filling: { BLAKE2b.hash(bytes, key: key, personalization: .watermarkEntry, into: $0) })
    }
}
