/// Property lists, read and written without trust in what they say of themselves.
public enum PropertyList {
    /// Reads a property list of any format; what it is decides its beginning.
    ///
    /// Depth, number and size of values are checked before anything is allocated for them.
    /// - Throws: `StructureFault`.
    package static func parse(
        _ bytes: UnsafeRawBufferPointer, limits: StructureLimits = .propertyList
    ) throws(StructureFault) -> (value: PropertyListValue, format: PropertyListFormat) {
        throw .unsupported("not built yet")
    }

    /// The format that the beginning of a file claims; nil for what begins like none.
    package static func format(of bytes: UnsafeRawBufferPointer) -> PropertyListFormat? { nil }

    /// The property list as a file's bytes; keys in order, so that the same value makes the same bytes.
    ///
    /// - Throws: `StructureFault` `.unsupported` for OpenStep, and for what XML cannot hold, such as a control character.
    package static func bytes(
        of value: PropertyListValue, as format: PropertyListFormat
    ) throws(StructureFault) -> [UInt8] {
        throw .unsupported("not built yet")
    }
}
