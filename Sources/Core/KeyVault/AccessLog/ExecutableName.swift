/// A program's path as it fits into an entry: its end tells more than its beginning.
struct ExecutableName: Hashable, Sendable {
    static let maximumSize = 160

    let bytes: ArraySlice<UInt8>
    /// Whether the beginning is missing.
    let isCut: Bool

    /// Of this process.
    static let current = ExecutableName(path: RunningProcess.executable)

    init(path: [UInt8]) {
        isCut = path.count > Self.maximumSize
        // Never within a character of UTF-8.
        bytes = isCut ? path.suffix(Self.maximumSize).drop { $0 & 0xC0 == 0x80 } : path[...]
    }
}
