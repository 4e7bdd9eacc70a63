/// What became of the files of a container.
public struct MovingInReport: Sendable {
    /// Every file, in the order of their paths.
    public internal(set) var items: [MovedItem] = []

    init() {}

    /// Those that could not be moved.
    public var failures: [MovedItem] { items.filter { $0.error != nil } }

    /// Those that stay in plaintext although nobody has said that they should.
    public var leftInPlaintext: [MovedItem] { items.filter(\.isLeftInPlaintext) }

    /// Whether every file was moved, holds no plaintext, or was to be left.
    public var isComplete: Bool { failures.isEmpty && leftInPlaintext.isEmpty }
}
