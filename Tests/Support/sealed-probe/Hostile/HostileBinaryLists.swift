/// Binary property lists that no writer produces.
enum HostileBinaryLists {
    static var cases: [HostileCase] {
        (structures + objects + trailers).map { name, file in
            HostileCase(.propertyList, "binary: \(name)") { file().bytes }
        } + cuts
    }

    private typealias Case = (String, () -> BinaryListFile)

    /// Lists that are invalid as a whole although each part is valid.
    private static var structures: [Case] {
        [
            ("an array in itself", { File([[0xA1, 0]]) }),
            ("a dictionary in itself", { File([[0xD1, 1, 0], [0x51, 0x61]]) }),
            ("a cycle of three", { File([[0xA1, 1], [0xA1, 2], [0xA1, 0]]) }),
            ("a cycle behind a value", { File([[0xA2, 1, 2], [0x10, 1], [0xA1, 0]]) }),
            ("a billion values in 30 levels", { File.doubling(30) }),
            ("2^200 values", { File.doubling(200) }),
            ("shared text of a gigabyte", { sharedText }),
            ("shared data of a gigabyte", { sharedData }),
            ("65 levels", { File((1..<66).map { [0xA1, UInt8($0)] } + [[0xA0]]) }),
            ("250 levels", { File((1..<251).map { [0xA1, UInt8($0)] } + [[0xA0]]) }),
            ("a key twice", { File([[0xD2, 1, 1, 2, 2], [0x51, 0x61], [0x10, 1]]) }),
            ("a key twice in two objects", { File([[0xD2, 1, 2, 3, 3], [0x51, 0x61], [0x51, 0x61], [0x10, 1]]) }),
            (
                "two spellings of a key",
                { File([[0xD2, 1, 2, 3, 3], [0x61, 0, 0xE9], [0x62, 0, 0x65, 3, 1], [0x10, 1]]) }
            ),
            ("a key that is a number", { File([[0xD1, 1, 1], [0x10, 1]]) }),
            ("a key that is an array", { File([[0xD1, 1, 2], [0xA0], [0x10, 1]]) }),
            (
                "a key of 5,000 bytes",
                { File([[0xD1, 1, 1], [0x5F, 0x11, 0x13, 0x88] + [UInt8](repeating: 0x61, count: 5000)]) }
            ),
            (
                "combining marks",
                { File([[0x6F, 0x11, 0x27, 0x10] + [UInt8]((0..<10_000).flatMap { _ in [UInt8(3), 1] })]) }
            ),
        ]
    }

    private typealias File = BinaryListFile

    private static var sharedText: File {
        File([
            [0xAF, 0x11, 0x40, 0] + [UInt8](repeating: 1, count: 0x4000),
            [0x5F, 0x12, 0, 1, 0, 0] + [UInt8](repeating: 0x61, count: 65_536),
        ])
    }

    private static var sharedData: File {
        File([
            [0xAF, 0x11, 0x40, 0] + [UInt8](repeating: 1, count: 0x4000),
            [0x4F, 0x12, 0, 1, 0, 0] + [UInt8](repeating: 0, count: 65_536),
        ])
    }

    /// Lists with one invalid object.
    private static var objects: [Case] {
        let wrong: [(String, [UInt8])] = [
            ("data of 1 GiB", [0x4F, 0x12, 0x40, 0, 0, 0]), ("text of 1 GiB", [0x5F, 0x12, 0x40, 0, 0, 0]),
            ("wide text of 1 GiB", [0x6F, 0x12, 0x40, 0, 0, 0]), ("array of 2^30", [0xAF, 0x12, 0x40, 0, 0, 0]),
            ("dictionary of 2^30", [0xDF, 0x12, 0x40, 0, 0, 0]),
            ("data of 2^63", [0x4F, 0x13, 0x80] + [UInt8](repeating: 0, count: 7)),
            ("array of 2^64 - 1", [0xAF, 0x13] + [UInt8](repeating: 255, count: 8)),
            ("length that is text", [0x4F, 0x51, 0x61]),
            ("length of 16 bytes", [0x4F, 0x14] + [UInt8](repeating: 0, count: 16)), ("length missing", [0x5F]),
            ("unknown kind 7", [0x70]), ("unknown kind 9", [0x90]), ("unknown kind B", [0xB0]),
            ("unknown kind E", [0xE0]), ("unknown kind F", [0xF1, 0]),
            ("null", [0x00]), ("fill byte", [0x0F]), ("set", [0xC0]), ("reference of an archive", [0x80, 1]),
            ("number cut", [0x13, 0]),
            ("number of 32 bytes", [0x15] + [UInt8](repeating: 0, count: 32)),
            ("number over 64 bits", [0x14, 1] + [UInt8](repeating: 0, count: 15)),
            ("real of 2 bytes", [0x21, 0, 0]), ("real cut", [0x23, 0]), ("date of 4 bytes", [0x32, 0, 0, 0, 0]),
            ("date that is NaN", [0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]),
            ("date beyond the year 9999", [0x33, 0x7F, 0xE0, 0, 0, 0, 0, 0, 0]),
            ("text that is not ASCII", [0x51, 0x80]), ("half a character", [0x61, 0xD8, 0x3D]),
            ("the other half first", [0x62, 0xDE, 0, 0xD8, 0x3D]),
            ("reference out of range", [0xA1, 9]), ("array cut", [0xA2, 0]), ("dictionary cut", [0xD1, 0]),
        ]
        return wrong.map { name, object in (name, { File([object]) }) }
    }

    /// Lists with an invalid trailer or offset table.
    private static var trailers: [Case] {
        func changed(_ change: @escaping (inout File) -> Void) -> () -> File {
            {
                var file = File([[0x10, 1]])
                change(&file)
                return file
            }
        }
        return [
            ("2^30 objects", changed { $0.count = 1 << 30 }), ("2^63 objects", changed { $0.count = 1 << 63 }),
            ("no objects", changed { ($0.count, $0.offsets) = (0, []) }), ("top out of range", changed { $0.top = 1 }),
            ("top of 2^64 - 1", changed { $0.top = .max }), ("table at 2^40", changed { $0.table = 1 << 40 }),
            ("table in the header", changed { $0.table = 4 }), ("offsets of 0 bytes", changed { $0.offsetSize = 0 }),
            ("offsets of 255 bytes", changed { $0.offsetSize = 255 }),
            ("references of 0 bytes", changed { $0.referenceSize = 0 }),
            ("references of 9 bytes", changed { $0.referenceSize = 9 }),
            ("offset in the header", changed { $0.offsets = [7] }),
            ("offset in the table", changed { $0.offsets = [10] }),
            ("another version", changed { $0.header = "bplist15" }),
            ("rubbish behind", changed { $0.tail = [0] }),
            ("200,001 objects", changed { ($0.count, $0.offsets) = (200_001, [UInt64](repeating: 8, count: 200_001)) }),
        ]
    }

    private static var cuts: [HostileCase] {
        let whole = File([[0xD1, 1, 2], [0x51, 0x61], [0xA2, 3, 3], [0x10, 1]]).bytes
        return [7, 8, 20, 40, whole.count - 1].map { count in
            HostileCase(.propertyList, "binary: cut after \(count) bytes") { Array(whole.prefix(count)) }
        }
    }
}

/// A binary property list from the bytes of its objects, with the faults of its frame.
struct BinaryListFile {
    var objects: [[UInt8]]
    var header = "bplist00"
    var offsetSize: UInt8 = 4
    var referenceSize: UInt8 = 1
    var top: UInt64 = 0
    var count: UInt64?
    var table: UInt64?
    var offsets: [UInt64]?
    var tail: [UInt8] = []

    init(_ objects: [[UInt8]]) { self.objects = objects }

    /// Returns a list in which each level is an array of the next one twice.
    static func doubling(_ levels: UInt8) -> BinaryListFile {
        BinaryListFile((1...levels).map { [0xA2, $0, $0] } + [[0x10, 1]])
    }

    var bytes: [UInt8] {
        var bytes = Array(header.utf8)
        var starts: [UInt64] = []
        for object in objects {
            starts.append(UInt64(bytes.count))
            bytes += object
        }
        let end = UInt64(bytes.count)
        for offset in offsets ?? starts { bytes += Self.big(offset, min(offsetSize, 8)) }
        bytes += [0, 0, 0, 0, 0, 0, offsetSize, referenceSize]
        for number in [count ?? UInt64(objects.count), top, table ?? end] { bytes += Self.big(number, 8) }
        return bytes + tail
    }

    private static func big(_ number: UInt64, _ size: UInt8) -> [UInt8] {
        (0..<UInt64(size)).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
