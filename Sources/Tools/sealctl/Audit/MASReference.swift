/// Where the controls of OWASP MASVS are on the web.
enum MASReference {
    /// The first of the references that has a page; nil where none has.
    static func uri(_ references: [String]) -> String? { references.lazy.compactMap(uri).first }

    /// The page of a control.
    static func uri(_ reference: String) -> String? {
        guard reference.hasPrefix("MASVS-"), reference.utf8.allSatisfy(isPlain) else { return nil }
        return "https://mas.owasp.org/MASVS/controls/\(reference)/"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "-")
    }
}
