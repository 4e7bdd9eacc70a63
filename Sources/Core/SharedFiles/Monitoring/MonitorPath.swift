/// An absolute path, taken apart. Bytes throughout: two names that Swift's `String` holds equal may be two files.
struct MonitorPath {
    /// As it was given, for messages.
    let string: String
    /// Without empty ones and `.`; `..` stays, since what it means hangs on the links before it.
    let components: [[UInt8]]

    static let parent = Array("..".utf8)

    init(_ string: String) throws(FileError) {
        guard string.utf8.first == UInt8(ascii: "/"), !string.utf8.contains(0) else {
            throw FileError(
                .invalidName, operation: "watch", path: string, advice: "Give an absolute path without NUL.")
        }
        self.string = string
        components = Self.components(of: Array(string.utf8))
    }

    static func components(of path: [UInt8]) -> [[UInt8]] {
        path.split(separator: UInt8(ascii: "/")).map(Array.init).filter { $0 != [UInt8(ascii: ".")] }
    }
}
