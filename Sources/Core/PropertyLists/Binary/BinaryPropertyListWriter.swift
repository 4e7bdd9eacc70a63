/// Writes binary property lists with keys in the order of their UTF-8 bytes, equal scalars once, and numbers in their
/// shortest form, so that the same value gives the same bytes.
struct BinaryPropertyListWriter {
    private var objects: [Object] = []
    /// The known objects by their bytes rather than by equality: `-0.0` differs from `0.0`, and `é` may be one scalar
    /// or two.
    private var known: [Written: Int] = [:]

    /// An object's bytes, hashed as a whole because an array hashes each byte separately.
    private struct Written: Hashable {
        let bytes: [UInt8]
        func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
    }

    private enum Object {
        case scalar([UInt8])
        /// A container with the references to its keys before those to its values.
        case container(kind: UInt8, count: Int, references: [Int])
    }

    /// - Throws: `StructureFault` for values that no reader would accept, even with the widest limits.
    static func bytes(of value: PropertyListValue) throws(StructureFault) -> [UInt8] {
        var writer = BinaryPropertyListWriter()
        _ = try writer.add(value, depth: 0)
        return writer.file()
    }

    /// Adds a value and returns its object's number. Containers come before their contents.
    private mutating func add(_ value: PropertyListValue, depth: Int) throws(StructureFault) -> Int {
        switch value {
        case .array(let values):
            let object = try reserve(depth: depth)
            var references: [Int] = []
            for value in values { references.append(try add(value, depth: depth + 1)) }
            objects[object] = .container(kind: 0xA0, count: values.count, references: references)
            return object
        case .dictionary(let members):
            let object = try reserve(depth: depth)
            let sorted = PropertyList.sorted(members)
            var references: [Int] = []
            for member in sorted { references.append(try addKey(member.key)) }
            for member in sorted { references.append(try add(member.value, depth: depth + 1)) }
            objects[object] = .container(kind: 0xD0, count: sorted.count, references: references)
            return object
        case .string(let text): try PropertyList.checkMarks(text)
        default: break
        }
        return add(BinaryPropertyListEncoding.scalar(value))
    }

    private mutating func addKey(_ key: String) throws(StructureFault) -> Int {
        try PropertyList.checkKey(key)
        return add(BinaryPropertyListEncoding.text(key))
    }

    private mutating func reserve(depth: Int) throws(StructureFault) -> Int {
        try PropertyList.checkDepth(depth)
        objects.append(.scalar([]))
        return objects.count - 1
    }

    private mutating func add(_ scalar: [UInt8]) -> Int {
        let written = Written(bytes: scalar)
        if let object = known[written] { return object }
        known[written] = objects.count
        objects.append(.scalar(scalar))
        return objects.count - 1
    }

    private func file() -> [UInt8] {
        var file = Array("bplist00".utf8)
        var offsets: [Int] = []
        let referenceSize = BinaryPropertyListEncoding.size(of: objects.count)
        for object in objects {
            offsets.append(file.count)
            switch object {
            case .scalar(let bytes): file += bytes
            case .container(let kind, let count, let references):
                file += BinaryPropertyListEncoding.head(kind, count: count)
                for reference in references { file.appendBigEndian(reference, size: referenceSize) }
            }
        }
        let table = file.count
        let offsetSize = BinaryPropertyListEncoding.size(of: table)
        for offset in offsets { file.appendBigEndian(offset, size: offsetSize) }
        file += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        for number in [objects.count, 0, table] { file.appendBigEndian(number, size: 8) }
        return file
    }
}

/// The encoding of single objects of a binary property list, in the layout of Apple's `CFBinaryPList.c`.
enum BinaryPropertyListEncoding {
    /// Returns the encoding of a value that is not a container.
    static func scalar(_ value: PropertyListValue) -> [UInt8] {
        switch value {
        case .bool(let value): return [value ? 0x09 : 0x08]
        case .integer(let value): return integer(value)
        case .unsigned(let value):
            guard let small = Int64(exactly: value) else { return [0x14] + bigEndian(0, 8) + bigEndian(value, 8) }
            return integer(small)
        case .real(let value): return [0x23] + bigEndian(value.bitPattern, 8)
        case .date(let value): return [0x33] + bigEndian(value.secondsSince2001.bitPattern, 8)
        case .data(let value): return head(0x40, count: value.count) + value
        case .string(let value): return text(value)
        case .array, .dictionary: return []
        }
    }

    static func text(_ text: String) -> [UInt8] {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return head(0x50, count: text.utf8.count) + text.utf8 }
        let units = text.utf16
        var bytes = head(0x60, count: units.count)
        bytes.reserveCapacity(bytes.count + 2 * units.count)
        for unit in units { bytes.appendBigEndian(Int(unit), size: 2) }
        return bytes
    }

    /// Returns an object's marker with its kind and its count. Counts from 15 on follow as a number.
    static func head(_ kind: UInt8, count: Int) -> [UInt8] {
        count < 15 ? [kind | UInt8(count)] : [kind | 0x0F] + integer(Int64(count))
    }

    /// Returns the smallest size of 1, 2, 4 and 8 bytes for a number. Other sizes are legal, but some readers don't
    /// support them.
    static func size(of number: Int) -> Int {
        number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
    }

    /// Returns the encoding of an integer. Encodings shorter than 8 bytes are unsigned.
    private static func integer(_ value: Int64) -> [UInt8] {
        let size = value < 0 ? 8 : size(of: Int(value))
        return [0x10 | UInt8(size.trailingZeroBitCount)] + bigEndian(UInt64(bitPattern: value), size)
    }

    private static func bigEndian(_ number: UInt64, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }
}

extension [UInt8] {
    /// Appends the lower bytes of a number in big-endian order.
    mutating func appendBigEndian(_ number: Int, size: Int) {
        for byte in (0..<size).reversed() { append(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
    }
}
