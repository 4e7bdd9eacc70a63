@testable import SecretDetection

/// The searcher's results, as arrays.
enum Found {
    static func all(in text: String) -> [SecretMatch] { all(in: Array(text.utf8)) }

    static func all(in bytes: [UInt8]) -> [SecretMatch] {
        var matches: [SecretMatch] = []
        bytes.withUnsafeBytes { bytes in
            SecretSearcher.standard.search(bytes) {
                matches.append($0)
                return true
            }
        }
        return matches
    }

    static func judged(_ value: String, named name: String?) -> [SecretMatch] {
        Array(value.utf8).withUnsafeBytes { value in
            guard let name else { return SecretSearcher.standard.judge(value, named: nil) }
            return Array(name.utf8).withUnsafeBytes { SecretSearcher.standard.judge(value, named: $0) }
        }
    }

    static func isSuspicious(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBytes { SecretSearcher.standard.isSuspicious($0) }
    }

    static func runs(in text: String) -> [WrappedRun] {
        Array(text.utf8).withUnsafeBytes { SecretSearcher.standard.searchAll($0) { _ in } }
    }

    /// Returns the bytes of a match as text.
    static func text(_ match: SecretMatch, of text: String) -> String {
        String(decoding: Array(text.utf8)[match.range], as: UTF8.self)
    }
}
