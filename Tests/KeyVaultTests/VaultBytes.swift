import CryptoPrimitives

@testable import KeyVault

/// A compartment file's bytes, and the changes that are possible without its keys.
struct VaultBytes {
    let bytes: [UInt8]
    let slots: Range<Int>
    let register: Range<Int>
    let table: Range<Int>

    init(_ file: [UInt8]) {
        bytes = file
        slots = 48..<48 + Self.number(file, 36)
        register = slots.upperBound..<slots.upperBound + Self.number(file, 40)
        table = register.upperBound..<register.upperBound + Int(file[7]) * 48
    }

    var checksum: Range<Int> { table.upperBound..<table.upperBound + 32 }
    var code: Range<Int> { checksum.upperBound..<checksum.upperBound + 32 }
    /// The offset of the first part.
    var parts: Int { code.upperBound }

    /// The offsets of the slots.
    var slotStarts: [Int] {
        var starts: [Int] = []
        var next = slots.lowerBound
        while next < slots.upperBound {
            starts.append(next)
            next += 24 + Self.number(bytes, next + 16)
        }
        return starts
    }

    /// The offset of the parameters of the first passphrase slot.
    var passphraseParameters: Int? {
        slotStarts.first { bytes[$0] == SlotKind.passphrase.rawValue }.map { $0 + 56 }
    }

    /// Returns the file with the public checksum of everything before the checksum's offset in the good file.
    func repaired(_ file: [UInt8]) -> [UInt8] { Self.repaired(file, end: checksum.lowerBound) }

    /// Returns the file with the public checksum after `end` bytes.
    static func repaired(_ file: [UInt8], end: Int) -> [UInt8] {
        var file = file
        let sum = BLAKE2b.hash(Array(file[..<end]), personalization: .headChecksum, count: 32)
        file.replaceSubrange(end..<end + 32, with: sum)
        return file
    }

    /// Returns the file with another number at an offset, and its checksum corrected.
    func with<Number: FixedWidthInteger>(_ number: Number, at offset: Int) -> [UInt8] {
        var file = bytes
        withUnsafeBytes(of: number.littleEndian) { file.replaceSubrange(offset..<offset + $0.count, with: $0) }
        return repaired(file)
    }

    private static func number(_ file: [UInt8], _ offset: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(file[offset + $1]) << ($1 * 8) }
    }
}
