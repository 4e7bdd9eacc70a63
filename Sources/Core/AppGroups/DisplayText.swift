/// Identifiers from outside, made safe to print on a terminal or in a log line.
enum DisplayText {
    /// Longer identifiers are cut: an error must not repeat megabytes of hostile input.
    private static let longestIdentifier = 80

    /// Everything but printable ASCII is escaped, so a letter that only looks Latin shows itself.
    static func identifier(_ text: String) -> String {
        var shown = ""
        for (offset, scalar) in text.unicodeScalars.enumerated() {
            if offset == longestIdentifier { return shown + "..." }
            let isPlain = (0x20...0x7E).contains(scalar.value)
            shown += isPlain ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }
        return shown
    }
}
