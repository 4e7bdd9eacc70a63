import CryptoPrimitives
import Glibc
import TestSupport

@testable import KeyVault

/// A valid compartment file and the forgeries of an adversary without its keys. Everything in the clear part can be
/// changed and its checksum corrected, because the checksum needs no key.
struct HostileVault {
    /// A file in the place of a compartment.
    struct Forgery: Sendable {
        let name: String
        let bytes: [UInt8]
    }

    let file: VaultBytes
    var good: [UInt8] { file.bytes }

    init(_ file: [UInt8]) { self.file = VaultBytes(file) }

    /// Returns the file with another slot area and another number of slots, which are consistent.
    private func with(area: [UInt8], count: UInt8) -> [UInt8] {
        var bytes = Array(good[..<48])
        bytes[6] = count
        withUnsafeBytes(of: UInt32(area.count).littleEndian) { bytes.replaceSubrange(36..<40, with: $0) }
        bytes += area + good[file.register.lowerBound..<file.table.upperBound]
        let end = bytes.count
        return VaultBytes.repaired(bytes + good[file.checksum.lowerBound...], end: end)
    }

    /// Returns the file with one bit flipped, and the checksum corrected if it covers the bit.
    func flipped(_ bit: Int) -> [UInt8] {
        var bytes = good
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        return bit / 8 < file.checksum.lowerBound ? file.repaired(bytes) : bytes
    }

    /// The forgeries: numbers at their limits in each field, and files of the wrong size.
    var forgeries: [Forgery] {
        wrongSizes + headerNumbers + file.slotStarts.flatMap(slotNumbers) + partNumbers + [
            Forgery(name: "wrong magic", bytes: file.repaired(Array("SVLU".utf8) + good.dropFirst(4))),
            Forgery(name: "a blob's magic", bytes: file.repaired(Array("SEAL".utf8) + good.dropFirst(4))),
            Forgery(name: "32 slots of unknown kinds", bytes: with(area: Self.strangers(32), count: 32)),
            Forgery(name: "255 slots", bytes: with(area: Self.strangers(255), count: 255)),
            Forgery(name: "a slot area of 64 KiB", bytes: with(area: Self.strangers(2730), count: 32)),
            Forgery(name: "no slot at all", bytes: with(area: [], count: 0)),
        ]
    }

    private var wrongSizes: [Forgery] {
        let cuts = [
            0, 1, 4, 47, 48, 49, file.slots.upperBound, file.register.upperBound, file.table.upperBound,
            file.code.lowerBound, file.parts, file.parts + 176, good.count - 1,
        ]
        return cuts.map { Forgery(name: "\($0) bytes", bytes: Array(good[..<$0])) }
            + [Forgery(name: "one more byte", bytes: good + [0])]
    }

    private var headerNumbers: [Forgery] {
        var forgeries: [Forgery] = []
        func add<Number: FixedWidthInteger>(_ name: String, at offset: Int, _ values: [Number]) {
            for value in values {
                forgeries.append(Forgery(name: "\(name) \(value)", bytes: file.with(value, at: offset)))
            }
        }
        add("version", at: 4, [0, 1, 3, 255] as [UInt8])
        add("role", at: 5, [0, 3 - good[5], 3, 4, 255] as [UInt8])
        add("slot count", at: 6, [0, good[6] - 1, good[6] + 1, 33, 255] as [UInt8])
        add("part count", at: 7, [0, 1, good[7] - 1, good[7] + 1, 33, 255] as [UInt8])
        add("generation", at: 8, [0, .max, 1 << 63, 1 << 40 + 1] as [UInt64])
        add("period", at: 32, [0, 2, .max] as [UInt32])
        let (area, register) = (UInt32(file.slots.count), UInt32(file.register.count))
        add("area size", at: 36, [0, area &- 1, area + 1, 65_536, 65_537, .max] as [UInt32])
        add("register size", at: 40, [register &- 1, register + 1, 1 << 20, 1 << 20 + 1, .max] as [UInt32])
        add("reserved", at: 44, [1, .max] as [UInt32])
        return forgeries
    }

    private func slotNumbers(at start: Int) -> [Forgery] {
        var forgeries: [Forgery] = []
        for value in [0, 5, 255] as [UInt8] {
            forgeries.append(Forgery(name: "slot kind \(value)", bytes: file.with(value, at: start)))
            forgeries.append(Forgery(name: "slot reach \(value)", bytes: file.with(value, at: start + 1)))
        }
        for value in [2, 255] as [UInt8] {
            forgeries.append(Forgery(name: "slot form \(value)", bytes: file.with(value, at: start + 2)))
            forgeries.append(Forgery(name: "slot reserved \(value)", bytes: file.with(value, at: start + 3)))
        }
        forgeries.append(Forgery(name: "slot id 0", bytes: file.with(UInt32(0), at: start + 4)))
        for value in [0, 1 << 31, .max - 23, .max] as [UInt32] {
            forgeries.append(Forgery(name: "slot size \(value)", bytes: file.with(value, at: start + 16)))
        }
        return forgeries
    }

    private var partNumbers: [Forgery] {
        var forgeries: [Forgery] = []
        for start in stride(from: file.table.lowerBound, to: file.table.upperBound, by: 48) {
            for value in [0, 99, .max] as [UInt16] {
                forgeries.append(Forgery(name: "part \(value)", bytes: file.with(value, at: start)))
            }
            for value in [2, .max] as [UInt16] {
                forgeries.append(Forgery(name: "part flags \(value)", bytes: file.with(value, at: start + 2)))
            }
            for value in [0, 1 << 31, .max] as [UInt32] {
                forgeries.append(Forgery(name: "part size \(value)", bytes: file.with(value, at: start + 4)))
            }
            forgeries.append(Forgery(name: "part reserved", bytes: file.with(UInt64(1), at: start + 8)))
        }
        return forgeries
    }

    /// Returns slots of kind 99 without contents.
    private static func strangers(_ count: Int) -> [UInt8] {
        (0..<count).flatMap { index in
            var writer = ByteWriter()
            writer.append([99, 1, 0, 0] as [UInt8])
            writer.append(UInt32(index + 1))
            writer.append([UInt8](repeating: 0, count: 16))
            return writer.bytes
        }
    }

    /// Returns the file with excessive Argon2id costs in the first passphrase slot: passes, and KiB of memory.
    func costs(passes: UInt32, memoryKiB: UInt32) -> [UInt8]? {
        guard let start = file.passphraseParameters else { return nil }
        var bytes = good
        withUnsafeBytes(of: passes.littleEndian) { bytes.replaceSubrange(start + 16..<start + 20, with: $0) }
        withUnsafeBytes(of: memoryKiB.littleEndian) { bytes.replaceSubrange(start + 20..<start + 24, with: $0) }
        return file.repaired(bytes)
    }
}
