internal import CryptoPrimitives
internal import Sealing

extension Personalization {
    /// The code of one entry of a watermark file; `docs/watermarks.md` lists it.
    static let watermarkEntry = Personalization("SealedState.wme1")
    /// Distinguishes the notes of two roots within a process; it is never written.
    static let watermarkIdentifier = Personalization("SealedState.wmi1")
}

/// An accepted state as it is stored on disk: 128 bytes, authenticated, in plaintext (`docs/watermarks.md`).
///
/// Except for the clock, it contains only what the blob's own header shows.
struct WatermarkEntry: Hashable, Sendable {
    static let size = 128
    private static let codedSize = 96

    private static let durableFlag: UInt32 = 1
    private static let purgedFlag: UInt32 = 2
    private static let refilledFlag: UInt32 = 4
    private static let knownFlags = durableFlag | purgedFlag | refilledFlag

    let name: NameTag
    let state: AcceptedState
    /// The boot in which it was accepted.
    let boot: BootID

    init(name: NameTag, state: AcceptedState, boot: BootID = .current) {
        self.name = name
        self.state = state
        self.boot = boot
    }

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
        let flags =
            (state.isDurable ? Self.durableFlag : 0) | (state.isPurged ? Self.purgedFlag : 0)
            | (state.isRefilled ? Self.refilledFlag : 0)
        entry.initializeMemory(as: UInt8.self, repeating: 0)
        entry.storeBytes(of: name.bytes, toByteOffset: 0, as: Bytes16.self)
        entry.storeBytes(of: state.mark.epoch.littleEndian, toByteOffset: 16, as: UInt32.self)
        entry.storeBytes(of: flags.littleEndian, toByteOffset: 20, as: UInt32.self)
        entry.storeBytes(of: state.mark.sequence.littleEndian, toByteOffset: 24, as: UInt64.self)
        entry.storeBytes(of: state.mark.commitment?.bytes ?? .zero, toByteOffset: 32, as: Bytes32.self)
        entry.storeBytes(of: boot.bytes, toByteOffset: 64, as: Bytes16.self)
        entry.storeBytes(of: state.anchor.milliseconds.littleEndian, toByteOffset: 80, as: Int64.self)
        entry.storeBytes(of: state.settled.littleEndian, toByteOffset: 88, as: UInt64.self)
    }

    /// Parses an entry; returns `nil` if its code is wrong.
    init?(parsing entry: UnsafeRawBufferPointer, key: borrowing SecretBytes) {
        guard entry.count == Self.size else { return nil }
        let code = key.withUnsafeBytes {
            Self.code(UnsafeRawBufferPointer(rebasing: entry[0..<Self.codedSize]), $0)
        }
        let isAuthentic = code.withUnsafeBytes {
            ConstantTime.areEqual($0, UnsafeRawBufferPointer(rebasing: entry[Self.codedSize...]))
        }
        let flags = Self.flags(of: entry)
        guard isAuthentic, flags <= Self.knownFlags else { return nil }
        let commitment = Bytes32(UnsafeRawBufferPointer(rebasing: entry[32..<64]))
        let anchor = Int64(littleEndian: entry.loadUnaligned(fromByteOffset: 80, as: Int64.self))
        name = NameTag(bytes: Bytes16(entry))
        state = AcceptedState(
            mark: Watermark(
                epoch: UInt32(littleEndian: entry.loadUnaligned(fromByteOffset: 16, as: UInt32.self)),
                sequence: Self.sequence(of: entry),
                commitment: commitment == .zero ? nil : Commitment(bytes: commitment)),
            isDurable: flags & Self.durableFlag != 0,
            settled: UInt64(littleEndian: entry.loadUnaligned(fromByteOffset: 88, as: UInt64.self)),
            isPurged: flags & Self.purgedFlag != 0, isRefilled: flags & Self.refilledFlag != 0,
            anchor: ClockAnchor(milliseconds: anchor))
        boot = BootID(bytes: Bytes16(UnsafeRawBufferPointer(rebasing: entry[64..<80])))
    }

    /// Returns whether 128 bytes at an odd offset are worth computing a code: almost only entries pass.
    static func isPlausible(_ entry: UnsafeRawBufferPointer) -> Bool {
        flags(of: entry) <= knownFlags && sequence(of: entry) > 0
    }

    /// Returns the state that still holds in `now`'s boot: all of it within its own boot, the settled part after a
    /// restart.
    func floor(in now: BootID) -> AcceptedState? { boot.isSame(as: now) ? state : state.afterRestart }

    private static func flags(of entry: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(littleEndian: entry.loadUnaligned(fromByteOffset: 20, as: UInt32.self))
    }

    private static func sequence(of entry: UnsafeRawBufferPointer) -> UInt64 {
        UInt64(littleEndian: entry.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
    }

    private static func code(_ bytes: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) -> Bytes32 {
        Bytes32(filling: { BLAKE2b.hash(bytes, key: key, personalization: .watermarkEntry, into: $0) })
    }
}

/// The entries in a range of the watermark file, and the damage between them.
///
/// A torn entry shifts everything behind it. After an entry that is not authentic, the next one is searched at every
/// byte, so that damage costs only the damaged bytes.
struct WatermarkScan {
    private(set) var entries: [WatermarkEntry] = []
    /// The ranges of bytes that belong to no entry.
    private(set) var damage: [Range<Int>] = []
    /// The end of the last entry.
    private(set) var end = 0

    init(_ bytes: UnsafeRawBufferPointer, key: borrowing SecretBytes) {
        var start = 0
        while start < bytes.count {
            if let entry = Self.entry(in: bytes, at: start, key) {
                entries.append(entry)
                start += WatermarkEntry.size
                end = start
            } else {
                let next = Self.nextEntry(in: bytes, after: start, key)
                damage.append(start..<next)
                start = next
            }
        }
    }

    /// The number of entries that fit into the damage, each range rounded up.
    var damagedCount: Int { damage.reduce(0) { $0 + Self.entryCount(of: $1.count) } }

    /// Returns the number of entries that fit into `size` bytes, rounded up.
    static func entryCount(of size: Int) -> Int { (size + WatermarkEntry.size - 1) / WatermarkEntry.size }

    private static func entry(
        in bytes: UnsafeRawBufferPointer, at start: Int, _ key: borrowing SecretBytes
    ) -> WatermarkEntry? {
        guard start + WatermarkEntry.size <= bytes.count else { return nil }
        return WatermarkEntry(
            parsing: UnsafeRawBufferPointer(rebasing: bytes[start..<start + WatermarkEntry.size]), key: key)
    }

    private static func nextEntry(
        in bytes: UnsafeRawBufferPointer, after start: Int, _ key: borrowing SecretBytes
    ) -> Int {
        var next = start + 1
        while next + WatermarkEntry.size <= bytes.count {
            let place = UnsafeRawBufferPointer(rebasing: bytes[next..<next + WatermarkEntry.size])
            if WatermarkEntry.isPlausible(place), WatermarkEntry(parsing: place, key: key) != nil { return next }
            next += 1
        }
        return bytes.count
    }
}
