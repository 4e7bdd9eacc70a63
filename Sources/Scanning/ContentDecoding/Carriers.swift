/// Detects the form of a carrier and reads it.
package enum Carriers {
    /// The number of bytes at the start of a file that decide its form.
    package static let headSize = 4096

    /// Returns the form that the first bytes and the name indicate. A property list that turns out to be a keyed
    /// archive is read as one.
    package static func form(of head: [UInt8], name: String) -> CarrierForm {
        if let known = signatures.first(where: { head.starts(with: $0.bytes) }) { return known.form }
        if SQLiteJournalReader.isJournal(head, name: name) { return .sqliteJournal }
        if ImageHead.isImage(head) { return .image }
        if UTF16Reader.order(of: head) != nil { return .utf16 }
        return TextForm.of(head, name: name) ?? .binary
    }

    /// Reads a carrier, and the values nested in it, with the reader of its form.
    ///
    /// - Throws: `CarrierFault` if the rest was not read. Skipped parts are noted in the walk's budget.
    package static func read(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault) {
        let head = try input.source.bytes(at: 0, count: headSize)
        try read(input, as: form(of: head, name: input.name), walk)
    }

    /// Reads a carrier whose form is known.
    package static func read(_ input: CarrierInput, as form: CarrierForm, _ walk: ValueWalk) throws(CarrierFault) {
        let depth = walk.trail.depth
        defer {
            walk.trail.leave(to: depth)
            if input.source.isCut { walk.note(.cut) }
        }
        try reader(of: form).read(input, walk)
    }

    private static func reader(of form: CarrierForm) -> any CarrierReader.Type {
        switch form {
        case .text, .log: TextReader.self
        case .json: JSONReader.self
        case .utf16: UTF16Reader.self
        case .xmlPropertyList: XMLPropertyListValues.self
        case .openStepPropertyList: OpenStepPropertyListValues.self
        case .binaryPropertyList, .keyedArchive: BinaryPropertyListValues.self
        case .sqlite: SQLiteReader.self
        case .sqliteLog: SQLiteLogReader.self
        case .sqliteJournal: SQLiteJournalReader.self
        case .cookies: CookiesReader.self
        case .gzip, .zlib: GzipReader.self
        case .base64, .hex, .image, .binary: BinaryReader.self
        }
    }

    // SQLite: https://sqlite.org/fileformat2.html, sections 1.3, 3 and 4.1; gzip: RFC 1952.
    private static let signatures: [(bytes: [UInt8], form: CarrierForm)] = [
        (Array("bplist".utf8), .binaryPropertyList),
        (Array("SQLite format 3\0".utf8), .sqlite),
        ([0x37, 0x7F, 0x06, 0x82], .sqliteLog),
        ([0x37, 0x7F, 0x06, 0x83], .sqliteLog),
        (Array("cook".utf8) + [0], .cookies),
        ([0x1F, 0x8B, 0x08], .gzip),
    ]
}

/// Images by their first bytes. They are read as files of no known form: texts of an image are found as they are, and
/// its pixels hold none.
enum ImageHead {
    private static let starts: [[UInt8]] = [
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], [0xFF, 0xD8, 0xFF], Array("GIF87a".utf8),
        Array("GIF89a".utf8), [0x49, 0x49, 42, 0], [0x4D, 0x4D, 0, 42],
    ]

    /// The brands of HEIC and AVIF.
    private static let brands: Set = ["heic", "heix", "hevc", "heim", "heis", "mif1", "msf1", "avif", "avis"]

    /// Returns `true` if the first bytes are those of a PNG, JPEG, GIF, WebP, HEIC, AVIF or TIFF file.
    static func isImage(_ head: [UInt8]) -> Bool {
        if starts.contains(where: { head.starts(with: $0) }) { return true }
        if head.starts(with: "RIFF".utf8) { return head.dropFirst(8).starts(with: "WEBP".utf8) }
        return head.dropFirst(4).starts(with: "ftyp".utf8)
            && brands.contains(String(decoding: head.dropFirst(8).prefix(4), as: UTF8.self))
    }
}

/// The form of a file, or of a value in it.
package enum CarrierForm: String, Hashable, Sendable, CaseIterable {
    case text, json, utf16, log
    case xmlPropertyList, binaryPropertyList, openStepPropertyList, keyedArchive
    case sqlite, sqliteLog, sqliteJournal
    case cookies
    case image
    case base64, hex, gzip, zlib
    case binary
}
