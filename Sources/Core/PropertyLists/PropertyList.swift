/// Property lists, read and written without trust in what they say of themselves.
public enum PropertyList {
    /// Reads a property list of any format; what it is decides its beginning.
    ///
    /// Depth, number and size of values are checked before anything is allocated for them.
    /// - Parameter repeatedKeys: Of a text in OpenStep's notation; the other formats always refuse them.
    /// - Throws: `StructureFault`.
    package static func parse(
        _ bytes: UnsafeRawBufferPointer, limits: StructureLimits = .propertyList, repeatedKeys: RepeatedKeys = .refused
    ) throws(StructureFault) -> (value: PropertyListValue, format: PropertyListFormat) {
        switch format(of: bytes) {
        case .binary: return (try BinaryPropertyListReader.parse(bytes, limits: limits), .binary)
        case .xml: return (try XMLPropertyListReader.parse(bytes, limits: limits), .xml)
        case .openStep: return (try OpenStepReader.parse(bytes, limits: limits, repeatedKeys: repeatedKeys), .openStep)
        case nil: throw .malformed("it begins like none")
        }
    }

    /// The same for bytes in an array.
    /// - Throws: `StructureFault`.
    package static func parse(
        _ bytes: [UInt8], limits: StructureLimits = .propertyList, repeatedKeys: RepeatedKeys = .refused
    ) throws(StructureFault) -> (value: PropertyListValue, format: PropertyListFormat) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(StructureFault) in try parse(bytes, limits: limits, repeatedKeys: repeatedKeys) }
        }
        return try result.get()
    }

    /// The format that the beginning of a file claims; nil for what begins like none.
    package static func format(of bytes: UnsafeRawBufferPointer) -> PropertyListFormat? {
        if bytes.starts(with: "bplist".utf8) { return .binary }
        let beginning = PropertyListText.beginning(of: bytes, longest: 6)
        if ["<?xml", "<!", "<plist"].contains(where: { beginning.starts(with: $0.utf8) }) { return .xml }
        return beginning.first.map(OpenStepScanner.mayBegin) == true ? .openStep : nil
    }

    /// The property list as a file's bytes; keys in order, so that the same value makes the same bytes.
    ///
    /// - Throws: `StructureFault` `.unsupported` for OpenStep, and for what XML cannot hold, such as a control character.
    package static func bytes(
        of value: PropertyListValue, as format: PropertyListFormat
    ) throws(StructureFault) -> [UInt8] {
        switch format {
        case .binary: return try BinaryPropertyListWriter.bytes(of: value)
        case .xml: return try XMLPropertyListWriter.bytes(of: value)
        case .openStep: throw .unsupported("values for a format that is only read")
        }
    }
}
