/// Tells the form of a carrier and reads it.
package enum Carriers {
    /// How many bytes of the start decide.
    package static let headSize = 4096

    /// The form that the first bytes and the name speak for. A property list that turns out to be a keyed archive is read as one.
    package static func form(of head: [UInt8], name: String) -> CarrierForm {
        if let known = signatures.first(where: { head.starts(with: $0.bytes) }) { return known.form }
        if UTF16Reader.order(of: head) != nil { return .utf16 }
        return TextForm.of(head, name: name) ?? .binary
    }

    /// Reads a carrier with the reader of its form, and what is nested in it.
    ///
    /// - Throws: `CarrierFault` where the rest was not read; what was passed over is noted in the walk's budget.
    package static func read(_ input: CarrierInput, _ walk: LeafWalk) throws(CarrierFault) {
        let head = try input.source.bytes(at: 0, count: headSize)
        try read(input, as: form(of: head, name: input.name), walk)
    }

    /// The same with a form that is known.
    package static func read(_ input: CarrierInput, as form: CarrierForm, _ walk: LeafWalk) throws(CarrierFault) {
        let depth = walk.trail.depth
        defer { walk.trail.leave(to: depth) }
        try reader(of: form).read(input, walk)
    }

    private static func reader(of form: CarrierForm) -> any CarrierReader.Type {
        switch form {
        case .text, .log, .json, .xmlPropertyList, .openStepPropertyList: TextReader.self
        case .utf16: UTF16Reader.self
        default: BinaryReader.self
        }
    }

    // SQLite: https://sqlite.org/fileformat2.html, sections 1.3, 3 and 4.1; gzip: RFC 1952.
    private static let signatures: [(bytes: [UInt8], form: CarrierForm)] = [
        (Array("bplist".utf8), .binaryPropertyList),
        (Array("SQLite format 3\0".utf8), .sqlite),
        ([0x37, 0x7F, 0x06, 0x82], .sqliteLog),
        ([0x37, 0x7F, 0x06, 0x83], .sqliteLog),
        ([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7], .sqliteJournal),
        (Array("cook".utf8) + [0], .cookies),
        ([0x1F, 0x8B, 0x08], .gzip),
    ]
}
