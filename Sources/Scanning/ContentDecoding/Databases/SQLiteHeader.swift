/// The first 100 bytes of a database (SQLite, "Database File Format", section 1.3), as far as a reader needs them.
struct SQLiteHeader {
    static let size = 100
    static let magic = Array("SQLite format 3\0".utf8)

    enum Encoding: UInt32 { case utf8 = 1, utf16Little, utf16Big }

    let pageSize: Int
    /// Bytes of a page that the tree may use; the rest is an extension's, such as a page's authentication code.
    let usable: Int
    let encoding: Encoding
    let firstFreePage: UInt32
    /// Changes with every change of the schema.
    let schemaCookie: UInt32
    /// Whether pages with the way back of each page are among the others.
    let hasPointerMaps: Bool

    init(_ head: [UInt8]) throws(CarrierFault) {
        let bytes = CarrierBytes(head)
        guard head.count >= Self.size, head.starts(with: Self.magic) else {
            throw .malformed("it does not begin like a database")
        }
        guard let size = Self.pageSize(bytes.short(at: 16)) else { throw .malformed("a page size that cannot be") }
        pageSize = size
        usable = size - Int(bytes[20])
        guard bytes[21] == 64, bytes[22] == 32, bytes[23] == 32, usable >= 480,
            [0, 1, 2, 3].contains(bytes.word(at: 56))
        else { throw Self.oddity(reserved: bytes[20]) }
        encoding = Encoding(rawValue: bytes.word(at: 56)) ?? .utf8
        firstFreePage = bytes.word(at: 32)
        schemaCookie = bytes.word(at: 40)
        hasPointerMaps = bytes.word(at: 52) != 0
    }

    /// 1 stands for 65536, which two bytes do not hold.
    static func pageSize(_ written: Int) -> Int? {
        let size = written == 1 ? 65536 : written
        return size >= 512 && size <= 65536 && size & (size - 1) == 0 ? size : nil
    }

    /// Encryption of pages keeps at most the first bytes readable, and room for a code in each page.
    static func oddity(reserved: UInt8) -> CarrierFault {
        reserved >= 16 ? .unsupported("its pages are encrypted") : .malformed("a header that contradicts itself")
    }

    /// The page that locks lie on, which never holds anything.
    var lockPage: UInt32 { UInt32(0x4000_0000 / pageSize + 1) }

    /// Whether a page holds the way back of others and no values.
    func isPointerMap(_ number: UInt32) -> Bool {
        guard hasPointerMaps, number >= 2 else { return false }
        let (stride, past) = (UInt32(usable / 5 + 1), (number - 2))
        let nominal = past / stride * stride + 2
        // The map gives way to the page of locks.
        return number == (nominal == lockPage ? nominal + 1 : nominal)
    }
}
