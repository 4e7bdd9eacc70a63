internal import SharedFiles

/// A first hint of secrets in plaintext: words that fields of secrets are called by. It never tells a value.
enum SecretHints {
    /// In lower case; the first that occurs is named.
    private static let words = [
        "password", "passwd", "passphrase", "secret", "token", "api_key", "apikey", "api-key", "private_key",
        "privatekey", "private key", "credential", "authorization", "bearer", "session_id", "sessionid", "cookie",
    ].map { Array($0.utf8) }

    /// The classes in which the words are looked for.
    static func apply(to kind: FileClass) -> Bool {
        [.json, .propertyList, .binaryPropertyList, .text, .sqlite].contains(kind)
    }

    /// The first word of the list that the bytes hold, in whatever case.
    static func find(in bytes: [UInt8]) -> String? {
        var followers = [[Int]](repeating: [], count: 256)
        for (index, word) in words.enumerated() { followers[Int(word[0])].append(index) }
        var found: Int?
        for position in bytes.indices {
            for index in followers[Int(lowered(bytes[position]))] where index < found ?? words.count {
                if matches(words[index], bytes[position...]) { found = index }
            }
        }
        return found.map { String(decoding: words[$0], as: UTF8.self) }
    }

    private static func matches(_ word: [UInt8], _ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count >= word.count && zip(word, bytes).allSatisfy { $0 == lowered($1) }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
