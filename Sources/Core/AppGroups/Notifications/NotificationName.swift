/// A notification's name and its file.
///
/// Names are compared by their bytes: two names that are equal as Swift `String`s may be two notifications.
struct NotificationName: Sendable, Hashable {
    /// Longest name in bytes of UTF-8.
    static let maximumLength = 128

    /// The original name.
    let string: String
    /// The file's name: letters, digits, `.`, `_` and `-` unchanged, every other byte and a leading dot as `%` and two
    /// hexadecimal digits. If that is too long for a file, `=` and the bytes in base 32 (RFC 4648, "extended hex",
    /// lower case, no padding); no name of the first form begins with `=`.
    let fileName: String

    /// Leaves room for the affixes of temporary files.
    static let longestFileName = 206

    init(_ string: String) throws(AppGroupError) {
        guard (1...Self.maximumLength).contains(string.utf8.count) else { throw .invalidNotificationName(string) }
        self.string = string
        let encoded = Self.percentEncoded(string.utf8)
        fileName = encoded.utf8.count <= Self.longestFileName ? encoded : "=" + Self.base32(string.utf8)
    }

    static func == (one: Self, other: Self) -> Bool { one.fileName == other.fileName }
    func hash(into hasher: inout Hasher) { hasher.combine(fileName) }

    private static func percentEncoded(_ bytes: String.UTF8View) -> String {
        var text = ""
        for byte in bytes {
            if isPlain(byte) && !(text.isEmpty && byte == UInt8(ascii: ".")) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }

    static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static func base32(_ bytes: String.UTF8View) -> String {
        let digits = Array("0123456789abcdefghijklmnopqrstuv")
        var text = ""
        var bits: UInt = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.append(digits[Int(bits >> UInt(count) & 31)])
            }
            bits &= 31
        }
        if count > 0 { text.append(digits[Int(bits << UInt(5 - count) & 31)]) }
        return text
    }
}

/// The files of notifications, for code that examines a container.
package enum NotificationFile {
    /// The size of a posted one in bytes; one that is only observed is empty.
    package static let size = GroupNotificationToken.size

    /// Returns whether a notification can have that file name.
    package static func isName(_ name: some StringProtocol) -> Bool { NotificationName.isFileName(name.utf8) }
}

extension NotificationName {
    /// Returns whether the name has one of the two forms of `fileName`.
    fileprivate static func isFileName(_ name: some Collection<UInt8>) -> Bool {
        guard (1...longestFileName).contains(name.count) else { return false }
        if name.first == UInt8(ascii: "=") { return name.count > 1 && name.dropFirst().allSatisfy(isBase32) }
        guard name.first != UInt8(ascii: ".") else { return false }
        var rest = Array(name)[...]
        while let byte = rest.popFirst() {
            if isPlain(byte) { continue }
            let digits = rest.prefix(2)
            guard byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(isHexadecimal) else { return false }
            rest = rest.dropFirst(2)
        }
        return true
    }

    private static func isBase32(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "v")).contains(byte)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
    }
}
