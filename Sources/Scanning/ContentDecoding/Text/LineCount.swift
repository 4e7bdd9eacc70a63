/// Counts lines.
package enum LineCount {
    /// How many line ends there are. Sixteen at once: every byte of every text passes here.
    package static func newlines(in bytes: UnsafeRawBufferPointer) -> Int {
        let newline = SIMD16<UInt8>(repeating: UInt8(ascii: "\n"))
        var total = 0
        var index = 0
        while index + 16 <= bytes.count {
            // A lane counts up to 255 before it is added up.
            var lanes = SIMD16<UInt8>()
            let end = min(bytes.count - 15, index + 255 * 16)
            while index < end {
                let chunk = bytes.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
                lanes.replace(with: lanes &+ 1, where: chunk .== newline)
                index += 16
            }
            total += (0..<16).reduce(0) { $0 + Int(lanes[$1]) }
        }
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\n") { total += 1 }
            index += 1
        }
        return total
    }
}
