/// How far the thing had come when it was entered in the log. An open set with stable numbers and names.
public struct AccessOutcome: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number in the log.
    public let rawValue: UInt16

    /// An outcome by its number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// It was done.
    public static let succeeded = AccessOutcome(rawValue: 1)
    /// It is about to be done. That it was is said by a vault of the entry's generation or a later one; of several such
    /// entries with one generation, by the last of them only: the changes before it were given up, or their programs killed.
    public static let intended = AccessOutcome(rawValue: 2)
    /// It was refused: a wrong credential, a locked vault, nothing of that name. Of a change: nothing was changed.
    public static let refused = AccessOutcome(rawValue: 3)
    /// The system failed, such as a full disk. Of a change: nothing was changed.
    public static let failed = AccessOutcome(rawValue: 4)

    private static let names: [AccessOutcome: String] = [
        .succeeded: "succeeded", .intended: "intended", .refused: "refused", .failed: "failed",
    ]

    /// The stable name; `outcome-` and the number for one of a newer program.
    public var name: String { Self.names[self] ?? "outcome-\(rawValue)" }
    /// The stable name.
    public var description: String { name }
}
