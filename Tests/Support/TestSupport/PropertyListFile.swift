/// Binary property lists that no encoder writes.
package struct PropertyListFile {
    /// Each object's bytes.
    package var objects: [[UInt8]]
    package var offsetSize = 2
    package var referenceSize = 1
    package var top = 0
    /// Values that replace the correct ones.
    package var offsets: [Int]?
    package var count: Int?
    package var table: Int?
    package var tail: [UInt8] = []
    package var header = Array("bplist00".utf8)

    package init(_ objects: [[UInt8]]) { self.objects = objects }

    package static func text(_ text: String) -> [UInt8] { sized(0x50, text.utf8.count) + Array(text.utf8) }
    package static func wide(_ text: String) -> [UInt8] {
        sized(0x60, text.utf16.count) + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }
    package static func array(_ references: [Int]) -> [UInt8] {
        sized(0xA0, references.count) + references.map(UInt8.init)
    }
    package static func dictionary(_ pairs: [(Int, Int)]) -> [UInt8] {
        sized(0xD0, pairs.count) + pairs.map { UInt8($0.0) } + pairs.map { UInt8($0.1) }
    }
    package static func sized(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [kind | UInt8(count)] : [kind | 0x0F, 0x12] + big(count, 4)
    }
    package static func big(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    package static let one: [UInt8] = [0x10, 1]

    package var bytes: [UInt8] {
        var bytes = header
        var starts: [Int] = []
        for object in objects {
            starts.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        for offset in offsets ?? starts { bytes += Self.big(offset, offsetSize) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        for number in [count ?? objects.count, top, self.table ?? table] { bytes += Self.big(number, 8) }
        return bytes + tail
    }

    /// Returns a list in which each level is an array of the next one twice: a few bytes for each doubling.
    package static func doubling(_ levels: Int) -> PropertyListFile {
        PropertyListFile((1...levels).map { array([$0, $0]) } + [one])
    }
}
