internal import Glibc

/// A number in decimal as C's `%.17g` writes it, whatever locale the program has set.
enum DecimalText {
    private static let digits = 17

    /// For a number that is finite and not zero.
    static func text(of value: Double) -> String {
        // `d?dddddddddddddddde±x`, where `?` is the locale's own mark and maybe more than a byte.
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
