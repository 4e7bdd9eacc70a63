internal import Glibc

/// Reading and writing of property lists, without trust in their contents.
public enum PropertyList {
    /// Reads a property list of any format, detected by its beginning.
    ///
    /// Depth, number and size of values are checked before anything is allocated for them.
    /// - Parameter repeatedKeys: The rule for a text in OpenStep notation. The other formats always refuse repeated
    ///   keys.
    /// - Throws: `StructureFault`.
    package static func parse(
        _ bytes: UnsafeRawBufferPointer, limits: StructureLimits = .propertyList, repeatedKeys: RepeatedKeys = .refused
    ) throws(StructureFault) -> (value: PropertyListValue, format: PropertyListFormat) {
        switch format(of: bytes) {
        case .binary: return (try BinaryPropertyListReader.parse(bytes, limits: limits), .binary)
        case .xml: return (try XMLPropertyListReader.parse(bytes, limits: limits), .xml)
        case .openStep: return (try OpenStepReader.parse(bytes, limits: limits, repeatedKeys: repeatedKeys), .openStep)
        case nil: throw .malformed("its beginning is unknown")
        }
    }

    /// Reads a property list from an array.
    /// - Throws: `StructureFault`.
    package static func parse(
        _ bytes: [UInt8], limits: StructureLimits = .propertyList, repeatedKeys: RepeatedKeys = .refused
    ) throws(StructureFault) -> (value: PropertyListValue, format: PropertyListFormat) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(StructureFault) in try parse(bytes, limits: limits, repeatedKeys: repeatedKeys) }
        }
        return try result.get()
    }

    /// Returns the format that the beginning of a file indicates, or `nil` if it indicates none.
    package static func format(of bytes: UnsafeRawBufferPointer) -> PropertyListFormat? {
        if bytes.starts(with: "bplist".utf8) { return .binary }
        let beginning = PropertyListText.beginning(of: bytes, longest: 6)
        if ["<?xml", "<!", "<plist"].contains(where: { beginning.starts(with: $0.utf8) }) { return .xml }
        return beginning.first.map(OpenStepScanner.mayBegin) == true ? .openStep : nil
    }

    /// Returns the property list as a file's bytes. Keys are sorted, so that the same value gives the same bytes.
    ///
    /// - Throws: `StructureFault` `.unsupported` for OpenStep, and for values that XML cannot represent, such as a
    ///   control character.
    package static func bytes(
        of value: PropertyListValue, as format: PropertyListFormat
    ) throws(StructureFault) -> [UInt8] {
        switch format {
        case .binary: return try BinaryPropertyListWriter.bytes(of: value)
        case .xml: return try XMLPropertyListWriter.bytes(of: value)
        case .openStep: throw .unsupported("values for a format that cannot be written")
        }
    }
}

/// Rules of every writer, so that its output can be read back.
extension PropertyList {
    /// Returns the members in the order of their keys' UTF-8 bytes, which is the same in every language and version.
    package static func sorted(
        _ members: [String: PropertyListValue]
    ) -> [(key: String, value: PropertyListValue)] {
        members.sorted { precedes($0.key, $1.key) }
    }

    private static func precedes(_ one: String, _ other: String) -> Bool {
        let order = one.utf8.withContiguousStorageIfAvailable { one in
            other.utf8.withContiguousStorageIfAvailable { other -> Bool in
                // An empty buffer may have no address.
                guard let first = one.baseAddress, let second = other.baseAddress else {
                    return one.count < other.count
                }
                let difference = memcmp(first, second, min(one.count, other.count))
                return difference == 0 ? one.count < other.count : difference < 0
            }
        }
        return order.flatMap { $0 } ?? one.utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// - Parameter depth: The number of containers around the current one.
    static func checkDepth(_ depth: Int) throws(StructureFault) {
        guard depth < StructureLimits.deepest else { throw .tooDeep(limit: StructureLimits.deepest) }
    }

    static func checkKey(_ key: String) throws(StructureFault) {
        guard key.utf8.count <= StructureLimits.longestKey else { throw .longKey }
        try checkMarks(key)
    }

    static func checkMarks(_ text: String) throws(StructureFault) {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return }
        var run = MarkRun()
        for scalar in text.unicodeScalars where run.exceeds(with: scalar.value) { throw .stackedMarks }
    }
}

/// The rule for a key that occurs twice in an OpenStep dictionary.
package enum RepeatedKeys: Sendable {
    /// The text is refused. Otherwise the reader would have to choose one of the two values.
    case refused
    /// The last one counts, as in Apple's readers. For files that other programs read the same way, such as Xcode's
    /// projects after a merge.
    case lastCounts
}

/// A serialisation format of property lists.
public enum PropertyListFormat: String, Sendable, Hashable, CaseIterable {
    /// The binary format `bplist00`, which is compact and fast to read.
    case binary
    /// Apple's XML document type, version 1.0.
    case xml
    /// The notation with braces and semicolons of OpenStep and of Xcode's projects. It is only read, and contains only
    /// text and bytes.
    case openStep
}
