/// Builds the values of a binary property list whose structure has been checked.
///
/// Shared objects are built once for each reference, as the check has counted them.
struct BinaryPropertyListReader {
    private let bytes: UnsafeRawBufferPointer
    private let table: PropertyListTable

    static func parse(
        _ bytes: UnsafeRawBufferPointer, limits: StructureLimits
    ) throws(StructureFault) -> PropertyListValue {
        // The check rejects cycles and excessive depth, so the recursion below ends.
        try PropertyListStructure.check(bytes, against: limits)
        let reader = BinaryPropertyListReader(bytes: bytes, table: try PropertyListTable(bytes))
        return try reader.value(of: reader.table.trailer.top)
    }

    private func value(of object: Int) throws(StructureFault) -> PropertyListValue {
        switch try table.object(object) {
        case .scalar(let value):
            guard let value else { throw .unsupported("a null") }
            return value
        case .data(let range): return .data(Array(bytes[range]))
        case .text(let range, let isWide): return .string(try text(range, isWide: isWide))
        case .array(let count, let references): return .array(try array(count, references))
        case .dictionary(let count, let references): return .dictionary(try dictionary(count, references))
        }
    }

    private func array(_ count: Int, _ references: Int) throws(StructureFault) -> [PropertyListValue] {
        var values: [PropertyListValue] = []
        values.reserveCapacity(count)
        for index in 0..<count { values.append(try value(of: table.reference(index, from: references))) }
        return values
    }

    private func dictionary(_ count: Int, _ references: Int) throws(StructureFault) -> [String: PropertyListValue] {
        var members = [String: PropertyListValue](minimumCapacity: count)
        for index in 0..<count {
            guard case .text(let range, let isWide) = try table.object(table.reference(index, from: references)) else {
                throw .unsupported("a key that is not text")
            }
            let value = try value(of: table.reference(count + index, from: references))
            // Also keys that are other scalars of the same text: which of the two counted would be the reader's choice.
            guard members.updateValue(value, forKey: try text(range, isWide: isWide)) == nil else {
                throw .malformed("a key occurs twice")
            }
        }
        return members
    }

    private func text(_ range: Range<Int>, isWide: Bool) throws(StructureFault) -> String {
        guard isWide else { return String(decoding: bytes[range], as: UTF8.self) }
        let units = [UInt16](unsafeUninitializedCapacity: range.count / 2) { units, count in
            for index in 0..<range.count / 2 {
                let position = range.lowerBound + 2 * index
                units[index] = UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1])
            }
            count = range.count / 2
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw .malformed("a text has half of a surrogate pair")
        }
        return text
    }
}
