internal import CryptoPrimitives
internal import PropertyLists
internal import SharedFiles

/// Values as people type them. `-` is standard input, because all users of the machine can read arguments.
enum TypedText {
    /// The largest value that is read from standard input, in bytes, which is more than a suite holds.
    private static let limit = 4 << 20

    enum Kind: String {
        case string, data, int, integer, float, bool, boolean, date

        /// Parses words such as `-int`.
        init?(_ word: String) { self.init(rawValue: String(word.dropFirst())) }

        func value(_ text: String) throws(Failure) -> PropertyListValue {
            switch self {
            case .string: .string(text == "-" ? try standardText() : text)
            case .data: .data(text == "-" ? try standardInput() : try hexadecimal(text))
            case .int, .integer: try wholeNumber(text)
            case .float: .real(try real(text))
            case .bool, .boolean: .bool(try truth(text))
            case .date: .date(try moment(text))
            }
        }
    }

    /// Returns the value of an untyped word. A word that begins like a property list must be one; any other word is
    /// text. `-` is standard input.
    static func untyped(_ word: String) throws(Failure) -> PropertyListValue {
        let bytes = word == "-" ? try standardInput() : Array(word.utf8)
        let isText = word != "-" && !word.hasPrefix("<") && !word.hasPrefix("{") && !word.hasPrefix("(")
        if isText, !word.hasPrefix("\"") { return .string(word) }
        do throws(StructureFault) { return try PropertyList.parse(bytes).value } catch {
            throw Failure(
                .dataError, "notAPropertyList",
                "the value cannot be used: \(error.reason)",
                hint: word == "-" ? "For plain text or bytes: -string - or -data -." : "For plain text: -string TEXT.")
        }
    }

    /// Returns a whole suite: a dictionary, as text or from standard input.
    static func dictionary(_ word: String) throws(Failure) -> [String: PropertyListValue] {
        guard case .dictionary(let members) = try untyped(word) else {
            throw Failure(
                .dataError, "wrongType", "a suite is a dictionary, and this value is not",
                hint: "For one key: sealctl defaults write SUITE KEY VALUE.")
        }
        return members
    }

    private static func standardInput() throws(Failure) -> [UInt8] {
        try InputFile(nil).withContents(limit: limit) { bytes throws(Failure) in
            guard bytes.count <= limit else {
                throw Failure(
                    .dataError, "tooLarge", "standard input has more than \(limit) bytes",
                    hint: "Seal larger data with sealctl encrypt.")
            }
            return Array(bytes)
        }
    }

    /// Returns standard input without the line feed that a shell's `echo` appends.
    private static func standardText() throws(Failure) -> String {
        var bytes = try standardInput()
        if bytes.last == 0x0A { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw wrong("standard input", "UTF-8 text", "For bytes: -data -.")
        }
        return text
    }

    private static func hexadecimal(_ text: String) throws(Failure) -> [UInt8] {
        guard let bytes = Array(text.utf8).withUnsafeBytes({ HexDigits.decode($0) }) else {
            throw wrong("the data", "pairs of hexadecimal digits", "From a file: -data - < FILE.")
        }
        return bytes
    }

    private static func wholeNumber(_ text: String) throws(Failure) -> PropertyListValue {
        if let number = Int64(text) { return .integer(number) }
        guard let number = UInt64(text) else { throw wrong("\"\(text)\"", "a whole number", "Try -int 5.") }
        return .unsigned(number)
    }

    private static func real(_ text: String) throws(Failure) -> Double {
        guard let number = Double(text) else { throw wrong("\"\(text)\"", "a number", "Try -float 1.5.") }
        return number
    }

    private static func truth(_ text: String) throws(Failure) -> Bool {
        switch text.lowercased() {
        case "yes", "true", "1": true
        case "no", "false", "0": false
        default: throw wrong("\"\(text)\"", "a truth value", "Try -bool YES or -bool NO.")
        }
    }

    /// Parses a day or a second of UTC: `2026-11-21`, `2026-11-21T03:30:00Z`, `2026-11-21 03:30:00 +0000`.
    private static func moment(_ text: String) throws(Failure) -> PropertyListDate {
        var form = text
        if form.utf8.count == 10 { form += "T00:00:00Z" }
        if form.hasSuffix(" +0000") { form = form.dropLast(6).replacing(" ", with: "T") + "Z" }
        guard let date = Array(form.utf8).withUnsafeBytes({ CivilTime($0)?.date }) else {
            throw wrong("\"\(text)\"", "a date", "Try -date 2026-11-21T03:30:00Z.")
        }
        return date
    }

    private static func wrong(_ what: String, _ type: String, _ hint: String) -> Failure {
        Failure(.usage, "wrongValue", "\(what) is not \(type)", hint: hint)
    }
}
