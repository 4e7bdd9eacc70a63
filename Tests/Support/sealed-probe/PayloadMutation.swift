internal import Sealing

/// Random changes of a payload, the same for the same seed (SplitMix64: G. Steele and others, "Fast splittable
/// pseudorandom number generators", 2014).
struct PayloadMutation: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private static let words = [
        "[", "]", "{", "}", "\"", "\\", "\\u", "\\ud83d", "\\u0301", ",", ":", "null", "true", "-", "1e999", "0.0",
        "99999999999999999999999", "\u{0}", "\u{301}", "\u{FEFF}", "$null", "[[[[[[[[", "{\"a\":",
    ]
    private static let edges: [UInt8] = [0x00, 0x01, 0x0F, 0x10, 0x33, 0x5F, 0x7F, 0x80, 0xA1, 0xD1, 0xFE, 0xFF]

    mutating func apply(to payload: [UInt8], _ codec: PayloadCodec) -> [UInt8] {
        var bytes = payload
        for _ in 0..<Int.random(in: 1...5, using: &self) {
            guard !bytes.isEmpty else { break }
            if codec == .json { changeText(&bytes) } else { changeList(&bytes) }
        }
        return bytes
    }

    private mutating func changeText(_ bytes: inout [UInt8]) {
        let place = Int.random(in: 0..<bytes.count, using: &self)
        switch Int.random(in: 0..<6, using: &self) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &self)
        case 1: bytes.insert(contentsOf: Array(Self.words.randomElement(using: &self)?.utf8 ?? "".utf8), at: place)
        case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...8, using: &self)))
        case 3: copyPart(of: &bytes, to: place)
        case 4: bytes.removeLast(min(bytes.count, Int.random(in: 1...16, using: &self)))
        default: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &self)
        }
    }

    /// Changes a list, mostly without moving anything, because an invalid offset ends the check early.
    private mutating func changeList(_ bytes: inout [UInt8]) {
        let place = Int.random(in: 0..<bytes.count, using: &self)
        switch Int.random(in: 0..<8, using: &self) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &self)
        case 1: bytes[place] = Self.edges.randomElement(using: &self) ?? 0
        case 2: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &self)
        case 3: bytes[place] = bytes[Int.random(in: 0..<bytes.count, using: &self)]
        case 4: bytes[place] = bytes[place] &+ 1
        case 5: swapOffsets(in: &bytes)
        case 6: copyPart(of: &bytes, to: place)
        default: bytes[bytes.count - 1 - place % 32] = UInt8.random(in: 0...255, using: &self)
        }
    }

    private mutating func copyPart(of bytes: inout [UInt8], to place: Int) {
        let from = Int.random(in: 0..<bytes.count, using: &self)
        let part = Array(bytes[from..<min(bytes.count, from + 12)])
        bytes.replaceSubrange(place..<min(bytes.count, place + part.count), with: part)
    }

    /// Exchanges two objects in the offset table, which the last 8 bytes point to.
    private mutating func swapOffsets(in bytes: inout [UInt8]) {
        guard bytes.count > 40 else { return }
        let table = bytes.suffix(4).reduce(0) { $0 << 8 | Int($1) }
        let size = max(1, Int(bytes[bytes.count - 26] & 7))
        let count = (bytes.count - 32 - table) / size
        guard table > 8, count > 1 else { return }
        let one = table + size * Int.random(in: 0..<count, using: &self)
        let other = table + size * Int.random(in: 0..<count, using: &self)
        for offset in 0..<size { bytes.swapAt(one + offset, other + offset) }
    }
}
