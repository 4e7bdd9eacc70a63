/// An identifier of a profile, which may end in an asterisk: `ABCDE12345.com.example.app`, `ABCDE12345.com.example.*`,
/// `ABCDE12345.*`.
///
/// The asterisk stands for one character or more, dots included, and only at the end; anywhere else it is itself.
struct WildcardIdentifier {
    let pattern: String

    init(_ pattern: String) { self.pattern = pattern }

    var isWildcard: Bool { pattern.utf8.last == UInt8(ascii: "*") }

    /// Compares bytes: identifiers are case-sensitive.
    func matches(_ identifier: String) -> Bool {
        guard isWildcard else { return pattern.utf8.elementsEqual(identifier.utf8) }
        let prefix = pattern.utf8.dropLast()
        return identifier.utf8.count > prefix.count && identifier.utf8.starts(with: prefix)
    }
}
