/// What a JSON string stands for that has escapes in it.
enum JSONEscapes {
    /// Writes the text; what is no escape stands for itself, and half a character becomes U+FFFD.
    static func decode(_ text: UnsafeRawBufferPointer, into output: ScratchBytes) {
        output.removeAll()
        var position = 0
        while position < text.count {
            let start = position
            while position < text.count, text[position] != UInt8(ascii: "\\") { position += 1 }
            output.append(UnsafeRawBufferPointer(rebasing: text[start..<position]))
            guard position < text.count else { return }
            position += 1
            guard position < text.count else { return output.append(UInt8(ascii: "\\")) }
            position += 1
            escape(text[position - 1], text, &position, output)
        }
    }

    private static func escape(
        _ mark: UInt8, _ text: UnsafeRawBufferPointer, _ position: inout Int, _ output: ScratchBytes
    ) {
        switch mark {
        case UInt8(ascii: "n"): output.append(0x0A)
        case UInt8(ascii: "t"): output.append(0x09)
        case UInt8(ascii: "r"): output.append(0x0D)
        case UInt8(ascii: "b"): output.append(0x08)
        case UInt8(ascii: "f"): output.append(0x0C)
        case UInt8(ascii: "u"):
            guard let unit = unit(text, at: position) else { return output.append(mark) }
            position += 4
            output.append(scalar: scalar(unit, text, &position))
        default: output.append(mark)
        }
    }

    /// A unit of UTF-16, and the one behind it where both are halves of a character.
    private static func scalar(_ unit: UInt32, _ text: UnsafeRawBufferPointer, _ position: inout Int) -> UInt32 {
        guard 0xD800..<0xDC00 ~= unit, position + 6 <= text.count, text[position] == UInt8(ascii: "\\"),
            text[position + 1] == UInt8(ascii: "u"), let low = self.unit(text, at: position + 2),
            0xDC00..<0xE000 ~= low
        else { return unit }
        position += 6
        return 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
    }

    private static func unit(_ text: UnsafeRawBufferPointer, at start: Int) -> UInt32? {
        guard start + 4 <= text.count else { return nil }
        var value: UInt32 = 0
        for byte in text[start..<start + 4] {
            guard let digit = HexDigits.value(of: byte) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
