/// Large values of a Core Data store, which it keeps as files beside it.
struct ExternalValues {
    private let directory: String?
    private let sibling: (String) -> (any ByteSource)?
    /// Larger files are read as the files they are.
    private static let longest: Int64 = 8 << 20

    init(_ input: CarrierInput) {
        sibling = input.sibling
        let name = input.name.split(separator: ".", omittingEmptySubsequences: false)
        let stem = name.count > 1 ? name.dropLast().joined(separator: ".") : input.name
        directory = stem.isEmpty ? nil : ".\(stem)_SUPPORT/_EXTERNAL_DATA/"
    }

    /// The file's content that a value refers to; nil where there is none.
    ///
    /// The value comes from the database: nothing but a UUID becomes part of a path.
    func bytes(named reference: UnsafeRawBufferPointer) throws(CarrierFault) -> [UInt8]? {
        let name = reference.prefix { $0 != 0 }
        guard let directory, name.count == 36, name.allSatisfy(Self.isUUID),
            let source = sibling(directory + String(decoding: name, as: UTF8.self)), source.count <= Self.longest
        else { return nil }
        return try source.bytes(at: 0, count: Int(source.count))
    }

    private static func isUUID(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        case UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}
