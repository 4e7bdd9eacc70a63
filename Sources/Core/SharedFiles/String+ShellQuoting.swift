extension String {
    /// The string as one word of a POSIX shell, for commands that an advice names.
    package var shellQuoted: String {
        let plain = !isEmpty && utf8.allSatisfy { Self.isPlain($0) }
        return plain
            ? self : "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "/._-+:@%,".utf8.contains(byte)
        }
    }

    /// The string with control and invisible characters escaped: a planted file name must not drive the terminal that shows it.
    package var printable: String {
        guard unicodeScalars.contains(where: { $0.isControl }) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            text += scalar.isControl ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
    }
}

extension Unicode.Scalar {
    /// C0, DEL, C1, line and paragraph separators, the marks that turn the direction of text, and what is not seen at all:
    /// joiners, byte order marks, tags. Two names that differ must not look the same.
    fileprivate var isControl: Bool {
        switch value {
        case 0...0x1F, 0x7F...0x9F, 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xE0000...0xE007F:
            true
        default: false
        }
    }
}
