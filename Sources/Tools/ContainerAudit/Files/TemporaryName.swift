/// The names that new values have before they get their own: `.NAME.new`, and with 16 hexadecimal digits before the ending.
///
/// `SharedFiles` makes them; see `docs/decisions/0001-temporary-files-are-nameless.md`.
enum TemporaryName {
    /// The name that the value is to have; nil for no such name.
    static func target(of leaf: some StringProtocol) -> String? {
        guard matches(leaf) else { return nil }
        let name = leaf.dropFirst().dropLast(".new".count)
        guard let dot = name.lastIndex(of: "."), name[dot...].utf8.count == 17,
            name[name.index(after: dot)...].allSatisfy(\.isHexDigit)
        else { return String(name) }
        return String(name[..<dot])
    }

    static func matches(_ leaf: some StringProtocol) -> Bool {
        leaf.hasPrefix(".") && leaf.hasSuffix(".new") && leaf.utf8.count > ".new".utf8.count + 1
    }
}
