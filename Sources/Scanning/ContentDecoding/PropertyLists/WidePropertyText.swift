/// Text of a binary property list that is not ASCII: UTF-16, the high byte first.
enum WidePropertyText {
    /// The same text as UTF-8; halves of characters become U+FFFD. Valid until the buffer is used again.
    static func utf8(_ bytes: UnsafeRawBufferPointer, in scratch: ScratchBytes) -> UnsafeRawBufferPointer {
        scratch.removeAll()
        var high: UInt32?
        for position in stride(from: 0, to: bytes.count - 1, by: 2) {
            let unit = UInt32(bytes[position]) << 8 | UInt32(bytes[position + 1])
            if let first = high {
                high = nil
                if 0xDC00..<0xE000 ~= unit {
                    scratch.append(scalar: 0x10000 + (first - 0xD800) << 10 + (unit - 0xDC00))
                    continue
                }
                scratch.append(scalar: first)
            }
            if 0xD800..<0xDC00 ~= unit { high = unit } else { scratch.append(scalar: unit) }
        }
        if let high { scratch.append(scalar: high) }
        return scratch.bytes
    }
}
