/// What became of the files of a container.
public struct MovingInReport: Sendable {
    /// Every file, in the order of their paths.
    public internal(set) var items: [MovedItem] = []

    init() {}

    /// Those that could not be moved.
    public var failures: [MovedItem] { items.filter { $0.error != nil } }

    /// Whether every file was moved, or is none of those that are.
    public var isComplete: Bool { failures.isEmpty }
}
