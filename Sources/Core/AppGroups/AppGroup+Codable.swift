extension AppGroup: Codable {
    /// Reads the identifier from a single string and checks it as ``init(_:)`` does.
    ///
    /// - Throws: `DecodingError.dataCorrupted` at the identifier's place, with the ``AppGroupError`` as its underlying
    ///   error; what the decoder throws where there is no string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let identifier = try container.decode(String.self)
        do throws(AppGroupError) {
            try self.init(identifier)
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: error.description, underlyingError: error))
        }
    }

    /// Writes the identifier as a single string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(identifier)
    }
}
