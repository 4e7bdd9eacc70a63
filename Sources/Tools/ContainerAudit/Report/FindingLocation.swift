/// Where in a file a finding is, as far as that can be said.
public struct FindingLocation: Codable, Sendable, Hashable {
    /// The line, from 1, where the file is text.
    public var line: Int?
    /// The column in Unicode characters, from 1, where the file is text.
    public var column: Int?
    /// The first byte, from 0; nil where the value does not lie in the file in one piece.
    public var offset: Int64?
    /// How many bytes.
    public var length: Int64?
    /// The place in the file's structure: `accounts[2].token`, `table users, row 12, email`. Safe to print.
    public var place: String?

    /// A location; give what is known.
    public init(
        line: Int? = nil, column: Int? = nil, offset: Int64? = nil, length: Int64? = nil, place: String? = nil
    ) {
        self.line = line
        self.column = column
        self.offset = offset
        self.length = length
        self.place = place
    }
}
