internal import Glibc

/// Numbers and dates in the syntax of XML property lists.
enum XMLScalarText {
    /// The limit on a number's length. The longest number of any writer is `1e308` without an exponent.
    private static let longest = 400

    /// Reads an integer in decimal, or in hexadecimal with `0x`, with an optional sign, from `Int64.min` to
    /// `UInt64.max`.
    static func integer(_ text: UnsafeRawBufferPointer) throws(StructureFault) -> PropertyListValue {
        var digits = try trimmed(text)
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
        let isHex = digits.starts(with: "0x".utf8) || digits.starts(with: "0X".utf8)
        if isHex { digits = digits.dropFirst(2) }
        guard !digits.isEmpty, digits.allSatisfy({ isDigit($0, isHex: isHex) }) else {
            throw .malformed("an invalid integer")
        }
        guard let magnitude = UInt64(String(decoding: digits, as: UTF8.self), radix: isHex ? 16 : 10) else {
            throw .unsupported("a number of more than 64 bits")
        }
        if isNegative {
            guard magnitude <= Int64.min.magnitude else { throw .unsupported("a number of more than 64 bits") }
            return .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
        }
        return Int64(exactly: magnitude).map(PropertyListValue.integer) ?? .unsigned(magnitude)
    }

    static func real(_ text: UnsafeRawBufferPointer) throws(StructureFault) -> Double {
        let number = String(decoding: try trimmed(text), as: UTF8.self)
        switch number.lowercased() {
        case "nan": return .nan
        case "inf", "+inf", "infinity", "+infinity": return .infinity
        case "-inf", "-infinity": return -.infinity
        default:
            // Rejects other syntax that Swift accepts as a number, such as hexadecimal.
            guard number.utf8.allSatisfy({ isDigit($0, isHex: false) || "+-.eE".utf8.contains($0) }),
                let value = Double(number)
            else { throw .malformed("an invalid real number") }
            return value
        }
    }

    static func date(_ text: UnsafeRawBufferPointer) throws(StructureFault) -> PropertyListDate {
        guard let date = CivilTime(UnsafeRawBufferPointer(rebasing: try trimmed(text)))?.date else {
            throw .malformed("an invalid date")
        }
        return date
    }

    /// Returns at most seventeen digits, as Apple's writer does (`%.17g`), which is enough to read back the same
    /// number.
    static func text(of value: Double) -> String {
        if value.isNaN { return "nan" }
        if value.isInfinite { return value < 0 ? "-infinity" : "+infinity" }
        // Apple's writer loses the sign of zero.
        if value.isZero { return value.sign == .minus ? "-0.0" : "0.0" }
        return DecimalText.text(of: value)
    }

    private static func trimmed(_ text: UnsafeRawBufferPointer) throws(StructureFault) -> Slice<UnsafeRawBufferPointer>
    {
        let start = text.firstIndex { !XMLScanner.isSpace($0) } ?? text.endIndex
        let end = text.lastIndex { !XMLScanner.isSpace($0) }.map { $0 + 1 } ?? start
        guard end - start <= longest else { throw .malformed("a number with too many digits") }
        return text[start..<end]
    }

    private static func isDigit(_ byte: UInt8, isHex: Bool) -> Bool {
        isHex ? HexDigits.value(of: byte) != nil : 0x30...0x39 ~= byte
    }
}

/// A decimal number in the format of C's `%.17g`, independent of the program's locale.
enum DecimalText {
    private static let digits = 17

    /// Returns the text of a number that is finite and not zero.
    static func text(of value: Double) -> String {
        // The format is `d?dddddddddddddddde±x`, where `?` is the locale's decimal mark, possibly of several bytes.
        var buffer = [CChar](repeating: 0, count: 64)
        let length = withVaList([abs(value)]) { vsnprintf(&buffer, buffer.count, "%.16e", $0) }
        let scientific = buffer.prefix(Int(length)).map { UInt8(bitPattern: $0) }
        guard let mark = scientific.firstIndex(of: UInt8(ascii: "e")),
            let exponent = Int(String(decoding: scientific[(mark + 1)...], as: UTF8.self))
        else { return "\(value)" }
        var significant = scientific[..<mark].filter { 0x30...0x39 ~= $0 }
        while significant.count > 1, significant.last == UInt8(ascii: "0") { significant.removeLast() }
        return (value < 0 ? "-" : "") + layout(String(decoding: significant, as: UTF8.self), exponent)
    }

    private static func layout(_ significant: String, _ exponent: Int) -> String {
        func zeros(_ count: Int) -> String { String(repeating: "0", count: max(0, count)) }
        switch exponent {
        case -4..<0: return "0." + zeros(-exponent - 1) + significant
        case 0..<digits:
            let whole = significant.prefix(exponent + 1)
            let fraction = significant.dropFirst(exponent + 1)
            return whole + zeros(exponent + 1 - whole.count) + (fraction.isEmpty ? "" : ".") + fraction
        default:
            let fraction = significant.dropFirst()
            let power = String(abs(exponent))
            return significant.prefix(1) + (fraction.isEmpty ? "" : ".") + fraction + (exponent < 0 ? "e-" : "e+")
                + zeros(2 - power.count) + power
        }
    }
}
