/// The names that new values have before they get their own: `.NAME.new`, and with 16 hexadecimal digits before the ending.
///
/// `SharedFiles` makes them; see `docs/decisions/0001-temporary-files-are-nameless.md`.
enum TemporaryName {
    static func matches(_ leaf: some StringProtocol) -> Bool {
        leaf.hasPrefix(".") && leaf.hasSuffix(".new") && leaf.utf8.count > ".new".utf8.count + 1
    }
}
