/// What completion gives to a shell. Bash expands it like a word of a script, so names that other programs chose must hold
/// nothing that a shell reads as more than text.
enum CompletionText {
    /// The words that are harmless; the others are left out.
    static func safe(_ text: String) -> String {
        text.split(separator: "\n").filter { $0.utf8.allSatisfy(isHarmless) }.joined(separator: "\n")
    }

    /// Whether these arguments ask for the words of a completion.
    static func isAsked(_ arguments: [String]) -> Bool { arguments.first == "---completion" }

    private static func isHarmless(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "/"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
