internal import CryptoPrimitives
internal import SharedFiles

/// The transactions of an SQLite write-ahead log, read over their database as a checkpoint would write them into it
/// (SQLite, "Database File Format", section 4).
///
/// A frame counts if the checksums of all frames up to it are right, and its transaction has ended. Nothing is written,
/// and no code of SQLite sees the bytes.
final class WriteAheadLog: Sendable {
    /// A reason why a log cannot be read.
    enum Fault: Error {
        case file(FileError)
        /// The end of a sentence about the log.
        case unreadable(String)
    }

    private let pageSize: Int
    private let file: Descriptor
    /// The offset of the newest version of each page.
    private let pages: [UInt32: Int64]
    /// The number of pages of the database after the last transaction.
    private let pageCount: UInt32
    /// The number of frames up to the end of the last transaction.
    private let frames: Int64

    private static let headSize = 32
    private static let frameHeadSize = 24
    private static let version: UInt32 = 3_007_000
    /// The limit on pages in the log, which bounds memory.
    private static let mostPages = 1 << 22
    /// The bytes by which a database may be larger than its file and its log.
    private static let slack: Int64 = 65536
    /// The place of the size of pages in the first page; 1 means 65536.
    private static let pageSizeRange = 16..<18

    /// Returns whether the first bytes are those of a log.
    static func isLog(_ head: some Sequence<UInt8>) -> Bool {
        let head = Array(head.prefix(4))
        return head == [0x37, 0x7F, 0x06, 0x82] || head == [0x37, 0x7F, 0x06, 0x83]
    }

    /// The bytes of the database after the last transaction.
    var databaseSize: Int64 { Int64(pageCount) * Int64(pageSize) }

    /// Reads the frames of a log. A log without a valid header or an ended transaction has no effect, and is `nil`.
    init?(_ file: consuming Descriptor) throws(Fault) {
        guard let head = try Self.bytes(of: file, at: 0, count: Self.headSize) else { return nil }
        guard head.withUnsafeBytes({ Self.isLog($0) }) else { return nil }
        let words = head.withUnsafeBytes { bytes in (0..<8).map { Self.word(bytes, $0 * 4, isBigEndian: true) } }
        let isBigEndian = words[0] & 1 == 1
        var sums: Sums = (0, 0)
        head.withUnsafeBytes { Self.add($0[0..<24], isBigEndian, &sums) }
        let size = Int(words[2])
        guard sums == (words[6], words[7]), (512...65536).contains(size), size & (size - 1) == 0 else { return nil }
        guard words[1] == Self.version else {
            throw .unreadable("has a version that is not known")
        }
        (pages, pageCount, frames) = try Self.newest(in: file, pageSize: size, (words[4], words[5]), isBigEndian, sums)
        if pageCount == 0 { return nil }
        pageSize = size
        self.file = file
    }

    /// Returns the offset of the newest version of each page, the number of the database's pages, and that of the
    /// frames that count.
    private static func newest(
        in file: borrowing Descriptor, pageSize: Int, _ salts: (UInt32, UInt32), _ isBigEndian: Bool, _ sums: Sums
    ) throws(Fault) -> ([UInt32: Int64], UInt32, Int64) {
        var (pages, pending, pageCount) = ([UInt32: Int64](), [UInt32: Int64](), UInt32(0))
        var (sums, offset, read, frames) = (sums, Int64(headSize), Int64(0), Int64(0))
        while let frame = try bytes(of: file, at: offset, count: frameHeadSize + pageSize) {
            let words = frame.withUnsafeBytes { bytes in (0..<6).map { word(bytes, $0 * 4, isBigEndian: true) } }
            frame.withUnsafeBytes { bytes in
                add(bytes[0..<8], isBigEndian, &sums)
                add(bytes[frameHeadSize...], isBigEndian, &sums)
            }
            guard (words[2], words[3]) == salts, (words[4], words[5]) == sums, words[0] > 0 else { break }
            pending[words[0]] = offset + Int64(frameHeadSize)
            offset += Int64(frame.count)
            read += 1
            guard pending.count + pages.count <= mostPages else { throw .unreadable("has too many pages") }
            guard words[1] > 0 else { continue }
            pages.merge(pending) { _, new in new }
            pending.removeAll(keepingCapacity: true)
            (pageCount, frames) = (words[1], read)
        }
        return (pages, pageCount, frames)
    }

    /// Refuses a log that is not that of a database: one with pages of another size, or with more pages than the
    /// database and the log have. SQLite has the same rules.
    ///
    /// - Parameter size: The size of the database's own file.
    func requireFits(_ database: borrowing Descriptor, size: Int64) throws(Fault) {
        guard databaseSize <= size + Self.slack + frames * Int64(pageSize) else {
            throw .unreadable("ends with more pages than it and the database have")
        }
        var head = PlaintextBuffer(count: Self.pageSizeRange.upperBound)
        do throws(FileError) {
            _ = try head.withUnsafeMutableBytes { head throws(FileError) in
                try read(into: head, at: 0, over: database)
            }
        } catch { throw .file(error) }
        let stated = head.withUnsafeBytes { $0[Self.pageSizeRange].reduce(0) { $0 << 8 | Int($1) } }
        guard (stated == 1 ? 65536 : stated) == pageSize else { throw .unreadable("has pages of another size") }
    }

    /// Reads the database as it is after the last transaction.
    ///
    /// A page that is neither in the log nor in the database is empty, as after a checkpoint.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, over database: borrowing Descriptor
    ) throws(FileError) -> Int {
        let count = Int(max(0, min(Int64(buffer.count), databaseSize - offset)))
        var filled = 0
        while filled < count {
            let position = offset + Int64(filled)
            let (page, start) = position.quotientAndRemainder(dividingBy: Int64(pageSize))
            let part = min(pageSize - Int(start), count - filled)
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + part])
            var read = 0
            if let place = pages[UInt32(page + 1)] {
                read = try file.pread(into: target, at: place + start)
            } else {
                read = try database.pread(into: target, at: position)
            }
            UnsafeMutableRawBufferPointer(rebasing: target[read...]).initializeMemory(as: UInt8.self, repeating: 0)
            filled += part
        }
        return count
    }
}

extension WriteAheadLog {
    private typealias Sums = (UInt32, UInt32)

    private static func bytes(
        of file: borrowing Descriptor, at offset: Int64, count: Int
    ) throws(Fault) -> PlaintextBuffer? {
        var bytes = PlaintextBuffer(count: count)
        do throws(FileError) {
            let read = try bytes.withUnsafeMutableBytes { buffer throws(FileError) in
                try file.pread(into: buffer, at: offset)
            }
            guard read == count else { return nil }
            return bytes
        } catch { throw .file(error) }
    }

    /// Adds bytes to the two interdependent sums of section 4.2.
    private static func add(_ bytes: Slice<UnsafeRawBufferPointer>, _ isBigEndian: Bool, _ sums: inout Sums) {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        var (first, second) = sums
        for index in stride(from: 0, to: bytes.count, by: 8) {
            first = first &+ word(bytes, index, isBigEndian: isBigEndian) &+ second
            second = second &+ word(bytes, index + 4, isBigEndian: isBigEndian) &+ first
        }
        sums = (first, second)
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ index: Int, isBigEndian: Bool) -> UInt32 {
        let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }
}
