internal import Glibc

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

/// What every writer keeps to, so that what it writes can be read back.
extension PropertyList {
    /// Members in the order of their keys' UTF-8 bytes, which is the same in every language and version.
    package static func sorted(
        _ members: [String: PropertyListValue]
    ) -> [(key: String, value: PropertyListValue)] {
        members.sorted { precedes($0.key, $1.key) }
    }

    private static func precedes(_ one: String, _ other: String) -> Bool {
        let order = one.utf8.withContiguousStorageIfAvailable { one in
            other.utf8.withContiguousStorageIfAvailable { other -> Bool in
                // No address where there are no bytes.
                guard let first = one.baseAddress, let second = other.baseAddress else {
                    return one.count < other.count
                }
                let difference = memcmp(first, second, min(one.count, other.count))
                return difference == 0 ? one.count < other.count : difference < 0
            }
        }
        return order.flatMap { $0 } ?? one.utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// - Parameter depth: The containers around the one at hand.
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

/// What becomes of a key that a dictionary in OpenStep's notation holds twice.
package enum RepeatedKeys: Sendable {
    /// The text is refused: which of the two counted would be the reader's choice.
    case refused
    /// The last one counts, as it does for Apple's readers. For files that other programs read the same way, such as Xcode's
    /// projects after a merge.
    case lastCounts
}

/// How a property list is written down.
public enum PropertyListFormat: String, Sendable, Hashable, CaseIterable {
    /// `bplist00`: compact, and quick to read.
    case binary
    /// Apple's XML document type, version 1.0.
    case xml
    /// The braces and semicolons of OpenStep and of Xcode's projects; only read, and everything in it is text or bytes.
    case openStep
}
