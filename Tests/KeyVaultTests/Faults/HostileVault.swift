import CryptoPrimitives
import Glibc
import TestSupport

@testable import KeyVault

/// A good vault file and what somebody without its keys can make of it. Everything in the clear part can be changed, and
/// its checksum mended: anybody can compute that.
struct HostileVault {
    /// What stands in a vault's place.
    struct Forgery: Sendable {
        let name: String
        let bytes: [UInt8]
    }

    let good: [UInt8]

    /// Where the slots are, and where they end.
    let slots: Range<Int>
    /// Offsets of the slots' beginnings.
    let slotStarts: [Int]

    init(_ file: [UInt8]) {
        good = file
        let size = (0..<4).reduce(0) { $0 | Int(file[32 + $1]) << ($1 * 8) }
        slots = 40..<40 + size
        var starts: [Int] = []
        var next = 40
        while next < slots.upperBound {
            starts.append(next)
            next += 24 + (0..<4).reduce(0) { $0 | Int(file[next + 16 + $1]) << ($1 * 8) }
        }
        slotStarts = starts
    }

    /// Where the sealed body begins: behind checksum and code.
    var bodyOffset: Int { slots.upperBound + 64 }

    /// The file with other bytes at an offset of its clear part, its checksum mended.
    func with<Number: FixedWidthInteger>(_ number: Number, at offset: Int) -> [UInt8] {
        var file = good
        withUnsafeBytes(of: number.littleEndian) { file.replaceSubrange(offset..<offset + $0.count, with: $0) }
        return mended(file)
    }

    /// With the checksum of the clear part as it was before the change: its size is not believed.
    func mended(_ file: [UInt8]) -> [UInt8] { mended(file, areaEnd: slots.upperBound) }

    private func mended(_ file: [UInt8], areaEnd: Int) -> [UInt8] {
        var file = file
        let sum = BLAKE2b.hash(Array(file[..<areaEnd]), personalization: .vaultChecksum, count: 32)
        file.replaceSubrange(areaEnd..<areaEnd + 32, with: sum)
        return file
    }

    /// Another slot area and another number of slots, all in agreement with each other.
    func with(area: [UInt8], count: UInt8) -> [UInt8] {
        var file = Array(good[..<40])
        file[5] = count
        withUnsafeBytes(of: UInt32(area.count).littleEndian) { file.replaceSubrange(32..<36, with: $0) }
        file += area
        return mended(file + Array(good[slots.upperBound...]), areaEnd: file.count)
    }

    /// One bit turned; the checksum mended where it is one of the clear part.
    func flipped(_ bit: Int) -> [UInt8] {
        var file = good
        file[bit / 8] ^= 1 << UInt8(bit % 8)
        return bit / 8 < slots.upperBound ? mended(file) : file
    }
}

extension HostileVault {
    /// Numbers at their limits in each field, and files of the wrong size.
    var forgeries: [Forgery] {
        wrongSizes + headerNumbers + slotStarts.flatMap(slotNumbers) + [
            Forgery(name: "wrong magic", bytes: mended(Array("SVLU".utf8) + good.dropFirst(4))),
            Forgery(name: "a blob's magic", bytes: mended(Array("SEAL".utf8) + good.dropFirst(4))),
            Forgery(name: "32 slots of unknown kinds", bytes: with(area: Self.strangers(32), count: 32)),
            Forgery(name: "255 slots", bytes: with(area: Self.strangers(255), count: 255)),
            Forgery(name: "a slot area of 64 KiB", bytes: with(area: Self.strangers(2730), count: 32)),
            Forgery(name: "no slot at all", bytes: with(area: [], count: 0)),
        ]
    }

    private var wrongSizes: [Forgery] {
        let cuts = [0, 1, 4, 39, 40, 41, slots.upperBound, bodyOffset, bodyOffset + 176, good.count - 1]
        return cuts.map { Forgery(name: "\($0) bytes", bytes: Array(good[..<$0])) }
            + [Forgery(name: "one more byte", bytes: good + [0])]
    }

    private var headerNumbers: [Forgery] {
        var forgeries: [Forgery] = []
        for value in [0, 2, 255] as [UInt8] {
            forgeries.append(Forgery(name: "version \(value)", bytes: with(value, at: 4)))
        }
        for value in [0, 1, 33, 255] as [UInt8] {
            forgeries.append(Forgery(name: "slot count \(value)", bytes: with(value, at: 5)))
        }
        for value in [1, 2, 255] as [UInt8] {
            forgeries.append(Forgery(name: "purpose \(value)", bytes: with(value, at: 6)))
        }
        forgeries.append(Forgery(name: "reserved", bytes: with(UInt8(1), at: 7)))
        for value in [0, .max, 1 << 63] as [UInt64] {
            forgeries.append(Forgery(name: "generation \(value)", bytes: with(value, at: 8)))
        }
        let size = UInt32(slots.count)
        for value in [0, size - 1, size + 1, 65_536, 65_537, .max] as [UInt32] {
            forgeries.append(Forgery(name: "area size \(value)", bytes: with(value, at: 32)))
        }
        forgeries.append(Forgery(name: "reserved behind the area's size", bytes: with(UInt32.max, at: 36)))
        return forgeries
    }

    private func slotNumbers(at start: Int) -> [Forgery] {
        var forgeries: [Forgery] = []
        for value in [0, 5, 255] as [UInt8] {
            forgeries.append(Forgery(name: "slot kind \(value)", bytes: with(value, at: start)))
            forgeries.append(Forgery(name: "slot reach \(value)", bytes: with(value, at: start + 1)))
        }
        for value in [0, .max] as [UInt32] {
            forgeries.append(Forgery(name: "slot id \(value)", bytes: with(value, at: start + 4)))
        }
        for value in [0, 1 << 31, .max - 23, .max] as [UInt32] {
            forgeries.append(Forgery(name: "payload size \(value)", bytes: with(value, at: start + 16)))
        }
        return forgeries
    }

    /// Slots of kind 99 without payloads.
    private static func strangers(_ count: Int) -> [UInt8] {
        (0..<count).flatMap { index in
            KeySlot(kind: .keyFile, reach: .afterFirstUnlock, id: UInt32(index + 1), createdAt: 1, payload: [])
                .encoded.enumerated().map { $0.offset == 0 ? 99 : $0.element }
        }
    }

    /// Argon2id costs of the first passphrase slot, which no machine has: passes, and KiB of memory.
    func costs(passes: UInt32, memoryKiB: UInt32) throws -> [UInt8]? {
        guard let start = slotStarts.first(where: { good[$0] == SlotKind.passphrase.rawValue }) else { return nil }
        // Preamble and sizes 24, salt 16.
        var file = with(passes, at: start + 40)
        withUnsafeBytes(of: memoryKiB.littleEndian) { file.replaceSubrange(start + 44..<start + 48, with: $0) }
        return mended(file)
    }
}
