internal import PropertyLists

/// The objects of a binary property list, read one at a time from their source.
final class BinaryObjectTable {
    /// More than any file of a sensible size has; a bit is kept for each.
    private static let mostObjects = 64 << 20

    let bytes: SourceBytes
    private let trailer: PropertyListTrailer

    var objectCount: Int { trailer.objectCount }
    var top: Int { trailer.top }

    /// - Throws: `CarrierFault.malformed` if the trailer does not fit the file.
    init(_ source: any ByteSource) throws(CarrierFault) {
        bytes = try SourceBytes(source)
        let last = try bytes.bytes(at: bytes.count - PropertyListTrailer.size, count: PropertyListTrailer.size)
        let count = bytes.count
        trailer = try CarrierFault.onPropertyList { () throws(StructureFault) in
            try PropertyListTrailer(last, fileSize: count, hasGaps: true)
        }
        if trailer.objectCount > Self.mostObjects { throw .exhausted(.values) }
    }

    /// Returns the object with a number.
    func object(_ number: Int) throws(CarrierFault) -> BinaryObject {
        guard 0..<objectCount ~= number else { throw .malformed("a reference has no target") }
        let entry = try bytes.bytes(at: trailer.table + number * trailer.offsetSize, count: trailer.offsetSize)
        let offset = try CarrierFault.onPropertyList { () throws(StructureFault) in try trailer.offset(entry) }
        let head = try bytes.bytes(at: offset, count: min(EncodedObject.headSize, trailer.table - offset))
        let object = try CarrierFault.onPropertyList { () throws(StructureFault) in
            try EncodedObject(head, at: offset, end: trailer.table, referenceSize: trailer.referenceSize)
        }
        return BinaryObject(object, referenceSize: trailer.referenceSize)
    }

    /// Returns the number of the object at an index of a list.
    func element(_ index: Int, of list: BinaryObjectList) throws(CarrierFault) -> Int {
        let place = list.position + index * trailer.referenceSize
        let entry = try bytes.bytes(at: place, count: trailer.referenceSize)
        return try CarrierFault.onPropertyList { () throws(StructureFault) in try trailer.number(entry) }
    }

    /// Returns the contents of an object, valid until another object is read.
    func contents(_ range: Range<Int>) throws(CarrierFault) -> UnsafeRawBufferPointer {
        try bytes.bytes(at: range.lowerBound, count: range.count)
    }
}

extension CarrierFault {
    /// Runs a step of reading a property list and turns its fault into a carrier's.
    fileprivate static func onPropertyList<Result>(
        _ body: () throws(StructureFault) -> Result
    ) throws(CarrierFault) -> Result {
        do throws(StructureFault) { return try body() } catch {
            guard case .malformed(let what) = error else { throw .malformed(error.reason) }
            throw .malformed(what)
        }
    }
}

/// An object of a binary property list for a search: its kind, and the position of its contents in the file.
enum BinaryObject {
    case null
    case flag(Bool)
    case number(Double)
    case data(Range<Int>)
    /// ASCII or big-endian UTF-16.
    case text(Range<Int>, isWide: Bool)
    /// A reference to an object of a keyed archive, by number.
    case reference(Int)
    case array(BinaryObjectList)
    case dictionary(keys: BinaryObjectList, values: BinaryObjectList)

    fileprivate init(_ object: EncodedObject, referenceSize: Int) {
        self =
            switch object {
            case .empty: .null
            case .flag(let flag): .flag(flag)
            case .integer(let number):
                .number(number.size == 8 ? Double(Int64(bitPattern: number.bits)) : Double(number.bits))
            case .real(let number): .number(number)
            case .date(let seconds): .number(seconds + Double(PropertyListDate.secondsTo2001))
            case .identifier(let range), .data(let range): .data(range)
            case .text(let range, let letters): .text(range, isWide: letters == .utf16)
            case .reference(let number): .reference(Int(clamping: number))
            case .array(let count, let references), .set(let count, let references, _):
                .array(BinaryObjectList(position: references, count: count))
            case .dictionary(let count, let references):
                .dictionary(
                    keys: BinaryObjectList(position: references, count: count),
                    values: BinaryObjectList(position: references + count * referenceSize, count: count))
            }
    }
}

/// A sequence of object references in the file.
struct BinaryObjectList {
    let position: Int
    let count: Int
}

/// Text of a binary property list that is not ASCII: big-endian UTF-16.
enum WidePropertyText {
    /// Returns the text as UTF-8, with half surrogate pairs as U+FFFD. Valid until the buffer is reused.
    static func utf8(_ bytes: UnsafeRawBufferPointer, in scratch: ScratchBytes) -> UnsafeRawBufferPointer {
        scratch.removeAll()
        var high: UInt32?
        for position in stride(from: 0, to: bytes.count - 1, by: 2) {
            let unit = UInt32(bytes[position]) << 8 | UInt32(bytes[position + 1])
            if let first = high {
                high = nil
                if 0xDC00..<0xE000 ~= unit {
                    scratch.append(scalar: 0x10000 + (first - 0xD800) << 10 + (unit - 0xDC00))
                    continue
                }
                scratch.append(scalar: first)
            }
            if 0xD800..<0xDC00 ~= unit { high = unit } else { scratch.append(scalar: unit) }
        }
        if let high { scratch.append(scalar: high) }
        return scratch.bytes
    }
}
