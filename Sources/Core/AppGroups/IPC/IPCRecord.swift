internal import SharedFiles

/// A container's record of a semaphore or shared memory: 72 bytes, little-endian, in `.ipc/<name>.sem` or `.shm`.
///
/// | bytes | |
/// | --- | --- |
/// | 0–7 | `SEALIPC1` |
/// | 8 | 1 semaphore, 2 shared memory of values, 3 shared memory of bytes; then 3 zeros |
/// | 12–15 | key of the kernel's object, never 0 |
/// | 16–31 | boot id of the boot that the object belongs to |
/// | 32–39 | number of its IPC namespace |
/// | 40–55 | mark, never zeros: the object contains the same, which distinguishes it from another one with its key |
/// | 56–63 | size of the memory's values in bytes; 0 for a semaphore |
/// | 64–71 | tag of group and file name: a record that was moved to another name is invalid there |
///
/// The record is written before the object is created, and never changed. A process that is killed in between leaves a
/// record, whose object the next one creates, and never an object without a record.
struct IPCRecord: Hashable, Sendable {
    static let size = 72
    private static let magic = Array("SEALIPC1".utf8)

    var kind: IPCKind
    var key: UInt32
    var place: KernelPlace
    var mark: IPCMark
    var capacity: UInt64
    var tag: UInt64

    /// Creates a record for a new object.
    init(new kind: IPCKind, in place: KernelPlace, capacity: UInt64, tag: UInt64) {
        self.kind = kind
        key = .random(in: 1...(.max))
        self.place = place
        mark = .random()
        self.capacity = capacity
        self.tag = tag
    }

    /// Returns nil for all bytes except 72 bytes as above.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size, bytes.starts(with: Self.magic), let kind = IPCKind(rawValue: bytes[8]),
            bytes[9..<12].allSatisfy({ $0 == 0 })
        else { return nil }
        self.kind = kind
        key = bytes.integer(at: 12)
        place = KernelPlace(boot: Array(bytes[16..<32]), namespace: bytes.integer(at: 32))
        mark = IPCMark(bytes: Array(bytes[40..<56]))
        capacity = bytes.integer(at: 56)
        tag = bytes.integer(at: 64)
        guard key != 0, mark.isRandom, kind == .semaphore ? capacity == 0 : SegmentLayout.capacities.contains(capacity)
        else {
            return nil
        }
    }

    var bytes: [UInt8] {
        var bytes = Self.magic + [kind.rawValue, 0, 0, 0]
        bytes.append(integer: key)
        bytes += place.boot
        bytes.append(integer: place.namespace)
        bytes += mark.bytes
        bytes.append(integer: capacity)
        bytes.append(integer: tag)
        return bytes
    }

    /// The first bytes of the record's object.
    var stamp: IPCStamp { IPCStamp(self) }
}

/// The kind of a record's object.
package enum IPCKind: UInt8, Sendable, CaseIterable {
    case semaphore = 1
    case values = 2
    case bytes = 3

    /// The suffix of the record's file name.
    var suffix: String { self == .semaphore ? ".sem" : ".shm" }
    var words: String { self == .semaphore ? "semaphore" : "shared memory" }
}

/// Sixteen random bytes that an object and its record share. Only users of the object can read them.
struct IPCMark: Hashable, Sendable {
    let bytes: [UInt8]

    static func random() -> Self {
        var generator = SystemRandomNumberGenerator()
        return Self(bytes: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// `false` for zeros, the content of any object that was not filled.
    var isRandom: Bool { bytes.contains { $0 != 0 } }
}

/// The bytes that distinguish an object of this library from all others: `SEALIPC` and the kind's digit, the record's
/// tag, its mark.
///
/// Without the fixed part a record could be forged whose mark equals the first bytes of another program's object.
struct IPCStamp: Hashable, Sendable {
    static let size = 32
    /// The number of 14-bit words in a set of semaphores, whose values go up to 32,767.
    static let wordCount = (8 * size + 13) / 14

    let bytes: [UInt8]

    fileprivate init(_ record: IPCRecord) {
        var bytes = Array("SEALIPC".utf8) + [UInt8(ascii: "0") + record.kind.rawValue]
        bytes.append(integer: record.tag)
        self.bytes = bytes + record.mark.bytes
    }

    /// The stamp as numbers of at most 15 bits. The first bit of each is 1, so an unfilled set, which is all zeros, is
    /// not a stamp.
    var words: [UInt16] {
        (0..<Self.wordCount).map { word in
            (0..<14).reduce(into: UInt16(1)) { value, bit in
                let place = word * 14 + bit
                value = value << 1 | (place < 8 * Self.size ? UInt16(bytes[place / 8] >> UInt8(place % 8) & 1) : 0)
            }
        }
    }
}

extension [UInt8] {
    fileprivate func integer<Value: FixedWidthInteger>(at offset: Int) -> Value {
        withUnsafeBytes { Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Value.self)) }
    }

    fileprivate mutating func append(integer: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: integer.littleEndian) { append(contentsOf: $0) }
    }
}
