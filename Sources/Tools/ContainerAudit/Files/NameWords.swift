/// The words of a name, in lower case: `userAccessToken`, `user_access-token` and `USER.ACCESS.TOKEN` are the same three.
enum NameWords {
    static func of(_ name: some StringProtocol) -> [String] {
        var words: [String] = []
        var word = ""
        var last: UInt8?
        for byte in name.utf8 {
            let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            let isLetter = isUpper || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte >= 0x80
            let endsWord = !isLetter || (isUpper && last.map { !isCapital($0) } ?? false)
            if endsWord, !word.isEmpty {
                words.append(word)
                word = ""
            }
            if isLetter { word.unicodeScalars.append(Unicode.Scalar(isUpper ? byte | 0x20 : byte)) }
            last = byte
        }
        return word.isEmpty ? words : words + [word]
    }

    private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
}
