internal import PropertyLists

extension PropertyListValue {
    /// The bytes that it takes when it is written, but for what a property list says about where things lie.
    ///
    /// - Throws: `StructureFault` `.tooDeep`: a writer and every reader would recurse as deep.
    func storedSize(levels: Int = StructureLimits.propertyList.depth) throws(StructureFault) -> Int {
        guard levels > 0 else { throw .tooDeep(limit: StructureLimits.propertyList.depth) }
        switch self {
        case .bool: return 1
        case .integer, .unsigned, .real, .date: return 9
        case .data(let bytes): return bytes.count
        case .string(let text): return text.utf8.count
        case .array(let values):
            var size = 0
            for value in values { size += try value.storedSize(levels: levels - 1) }
            return size
        case .dictionary(let values):
            var size = 0
            for (key, value) in values { size += try key.utf8.count + value.storedSize(levels: levels - 1) }
            return size
        }
    }
}
