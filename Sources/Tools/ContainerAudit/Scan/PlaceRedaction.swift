internal import SecretDetection

/// Keeps out of places what may be a secret itself: a token that serves as a key of a dictionary.
enum PlaceRedaction {
    /// What stands in the place instead of a name; nil where the name may stand there.
    static func replacement(for name: String) -> String? {
        var copy = name
        let isSecret = copy.withUTF8 { bytes in
            !SecretSearcher.standard.judge(UnsafeRawBufferPointer(bytes), named: nil).isEmpty
        }
        return isSecret || looksDrawn(name) ? "‹a name of \(name.count) characters›" : nil
    }

    /// Letters of both cases and digits, many of each: a name that people write has not all three.
    private static func looksDrawn(_ name: String) -> Bool {
        var (upper, lower, digits) = (0, 0, 0)
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): upper += 1
            case UInt8(ascii: "a")...UInt8(ascii: "z"): lower += 1
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
            default: break
            }
        }
        return upper >= 5 && lower >= 5 && digits >= 4
    }
}
