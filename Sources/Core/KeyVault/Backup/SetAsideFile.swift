/// A file that was given another name, and is otherwise as it was.
public struct SetAsideFile: Sendable, Hashable {
    /// Its former path.
    public let from: String
    /// Its path now.
    public let to: String
}
