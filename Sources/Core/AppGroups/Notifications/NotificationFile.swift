/// What the files of notifications look like, for who looks at a container.
package enum NotificationFile {
    /// Bytes of one that was posted; one that is only observed is empty.
    package static let size = GroupNotificationToken.size

    /// Whether a notification can have that file name.
    package static func isName(_ name: some StringProtocol) -> Bool { NotificationName.isFileName(name.utf8) }
}

extension NotificationName {
    /// Whether it is one of the two forms of `fileName`.
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
