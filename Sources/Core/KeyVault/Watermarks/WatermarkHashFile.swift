internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles

extension Personalization {
    /// The code of the head of a hash file of watermarks; `docs/spec/watermarks.md` lists these three.
    static let watermarkHead = Personalization("SealedState.wmh1")
    /// The home slot of a name in such a file.
    static let watermarkSlot = Personalization("SealedState.wms1")
    /// The contents of its slots without an entry.
    static let watermarkFiller = Personalization("SealedState.wmf1")
}

/// A file of accepted states in which one record's is found without reading the others: a hash table with linear
/// probing (`docs/spec/watermarks.md`, section "The table").
///
/// Every slot is authenticated, also those without an entry, so that bytes that a disk has lost are not taken for names
/// that were never accepted. The file of a descriptor that is owned elsewhere.
struct WatermarkHashFile: Sendable {
    /// The first 128 bytes.
    struct Head: Sendable, Equatable {
        /// Stays the same when the file grows.
        var id: Bytes16
        /// The base-2 logarithm of the number of slots.
        var bits: UInt32
        /// At least the number of slots with an entry.
        var count: UInt64
        /// Grows with each change of the file.
        var changes: UInt64
        /// `true` while a program changes the file, and after a change that was not completed.
        var isChanging = false
    }

    /// The contents of a slot without an entry.
    private enum Filler: UInt8 {
        /// Never used: a search ends there.
        case empty
        /// Its entry was damaged and moved away: a search goes on.
        case removed
    }

    /// The result of a search.
    struct Search {
        var entry: WatermarkEntry?
        /// The slot of the entry, or the one in which to write it; `nil` if damage leaves none.
        var slot: UInt64?
        /// The slots on the way whose bytes are neither an entry nor a filler.
        var damaged: [UInt64] = []
    }

    private static let magic = Array("SWMT".utf8)
    private static let slotSize = WatermarkEntry.size
    private static let codedSize = 96
    private static let minimumBits: UInt32 = 11
    private static let maximumBits: UInt32 = 40
    /// The number of slots that one read of a search covers: with at most three of four slots in use, most searches end
    /// in them.
    private static let window: UInt64 = 4
    /// The number of slots that a pass over the whole file reads or writes at once.
    private static let chunk: UInt64 = 8192

    let file: Int32
    let path: String
    private(set) var head: Head
    private let empty: [UInt8]
    private let removed: [UInt8]

    private var slotCount: UInt64 { 1 << UInt64(head.bits) }
    /// The size of the file in bytes.
    var size: Int64 { Int64((slotCount + 1) * UInt64(Self.slotSize)) }
    /// Returns whether more entries fit: searches stay short while a quarter of the slots is empty.
    func hasRoom(for added: Int) -> Bool { head.count + UInt64(added) <= slotCount / 4 * 3 }

    private init(_ file: Int32, path: String, _ head: Head, key: borrowing SecretBytes) {
        self.file = file
        self.path = path
        self.head = head
        empty = Self.bytes(of: .empty, head, key)
        removed = Self.bytes(of: .removed, head, key)
    }

    private static func bytes(of filler: Filler, _ head: Head, _ key: borrowing SecretBytes) -> [UInt8] {
        var writer = ByteWriter()
        head.id.withUnsafeBytes { writer.append($0) }
        writer.append(head.bits)
        writer.append([filler.rawValue])
        let half = key.withUnsafeBytes { key in
            [UInt8](unsafeUninitializedCapacity: slotSize / 2) { buffer, count in
                writer.bytes.withUnsafeBytes {
                    BLAKE2b.hash(
                        $0, key: key, personalization: .watermarkFiller, into: UnsafeMutableRawBufferPointer(buffer))
                }
                count = slotSize / 2
            }
        }
        return half + half
    }
}

// MARK: The head

extension WatermarkHashFile {
    /// Reads the head of an open file; returns `nil` for bytes that are no such file under this key.
    ///
    /// - Throws: `FileError` if the file cannot be read.
    init?(reading file: borrowing Descriptor, key: borrowing SecretBytes) throws(FileError) {
        var bytes = [UInt8](repeating: 0, count: Self.slotSize)
        let count = try Self.onBytes(&bytes) { (bytes) throws(FileError) in try file.pread(into: bytes, at: 0) }
        guard count == Self.slotSize, let head = Self.parse(bytes, key: key) else { return nil }
        self.init(file.rawValue, path: file.path, head, key: key)
        guard try file.attributes().size == size else { return nil }
    }

    /// Fills a new file with empty slots.
    ///
    /// - Parameters:
    ///   - id: That of the file that it replaces; `nil` for a random one.
    ///   - count: The number of entries that it has to hold.
    static func make(
        in new: borrowing NewFile, id: Bytes16?, changes: UInt64, holding count: UInt64, key: borrowing SecretBytes
    ) throws(FileError) -> WatermarkHashFile {
        var bits = minimumBits
        // Half full: it grows again only after half as many entries more.
        while (1 << UInt64(bits)) / 2 < count, bits < maximumBits { bits += 1 }
        let head = Head(
            id: id ?? Bytes16(filling: { SecureRandom.fill($0) }), bits: bits, count: 0, changes: changes)
        let table = WatermarkHashFile(new.descriptor.rawValue, path: new.descriptor.path, head, key: key)
        try new.reserve(table.size)
        try table.write(head, key: key)
        let slots = min(chunk, table.slotCount)
        var fillers: [UInt8] = []
        fillers.reserveCapacity(Int(slots) * slotSize)
        for _ in 0..<slots { fillers += table.empty }
        for slot in stride(from: 0, to: table.slotCount, by: Int(slots)) { try table.write(fillers, at: slot) }
        return table
    }

    private static func parse(_ bytes: [UInt8], key: borrowing SecretBytes) -> Head? {
        let isAuthentic = bytes.withUnsafeBytes { bytes in
            key.withUnsafeBytes { key in
                code(UnsafeRawBufferPointer(rebasing: bytes[..<codedSize]), key).withUnsafeBytes {
                    ConstantTime.areEqual($0, UnsafeRawBufferPointer(rebasing: bytes[codedSize...]))
                }
            }
        }
        guard isAuthentic, bytes.starts(with: magic + [1, 0, 0, 0]) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            let bits: UInt32 = bytes.number(at: 8)
            guard (minimumBits...maximumBits).contains(bits) else { return nil }
            return Head(
                id: Bytes16(UnsafeRawBufferPointer(rebasing: bytes[16..<32])), bits: bits, count: bytes.number(at: 32),
                changes: bytes.number(at: 40), isChanging: bytes.number(at: 12, as: UInt32.self) != 0)
        }
    }

    /// Writes the head.
    mutating func update(count: UInt64, isChanging: Bool, key: borrowing SecretBytes) throws(FileError) {
        (head.count, head.changes, head.isChanging) = (count, head.changes &+ 1, isChanging)
        try write(head, key: key)
    }

    private func write(_ head: Head, key: borrowing SecretBytes) throws(FileError) {
        var writer = ByteWriter()
        writer.append(Self.magic + [1, 0, 0, 0])
        writer.append(head.bits)
        writer.append(UInt32(head.isChanging ? 1 : 0))
        head.id.withUnsafeBytes { writer.append($0) }
        writer.append(head.count)
        writer.append(head.changes)
        writer.append([UInt8](repeating: 0, count: Self.codedSize - writer.bytes.count))
        let code = key.withUnsafeBytes { key in writer.bytes.withUnsafeBytes { Self.code($0, key) } }
        code.withUnsafeBytes { writer.append($0) }
        try put(writer.bytes, at: 0)
    }

    private static func code(_ bytes: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) -> Bytes32 {
        Bytes32(filling: { BLAKE2b.hash(bytes, key: key, personalization: .watermarkHead, into: $0) })
    }
}

// MARK: Slots

extension WatermarkHashFile {
    /// Searches the entry of a name. Where it is not found at once, each slot on the way is verified, so that damage does
    /// not end the search.
    ///
    /// - Throws: `FileError` if the file cannot be read.
    func search(_ name: NameTag, key: borrowing SecretBytes) throws(FileError) -> Search {
        var slot = home(of: name, key)
        var (free, damaged, looked): (UInt64?, [UInt64], UInt64) = (nil, [], 0)
        while looked < slotCount {
            let count = min(Self.window, slotCount - slot)
            let found = try onSlots(slot, count) { bytes -> Search? in
                for index in 0..<count {
                    let bytes = Self.slot(bytes, index)
                    guard Bytes16(bytes) == name.bytes, let entry = WatermarkEntry(parsing: bytes, key: key) else {
                        continue
                    }
                    return Search(entry: entry, slot: slot + index, damaged: damaged)
                }
                for index in 0..<count {
                    let bytes = Self.slot(bytes, index)
                    if Self.isEqual(bytes, empty) {
                        return Search(entry: nil, slot: free ?? slot + index, damaged: damaged)
                    }
                    if Self.isEqual(bytes, removed) {
                        free = free ?? slot + index
                    } else if WatermarkEntry(parsing: bytes, key: key) == nil {
                        damaged.append(slot + index)
                    }
                }
                return nil
            }
            if let found { return found }
            looked += count
            slot = (slot + count) & (slotCount - 1)
        }
        return Search(entry: nil, slot: free, damaged: damaged)
    }

    func write(_ entry: WatermarkEntry, at slot: UInt64?, key: borrowing SecretBytes) throws(FileError) {
        guard let slot else { throw FileError(errno: ENOSPC, operation: "add a state to", path: path) }
        try write(entry.encoded(key: key), at: slot)
    }

    /// Ends the place of a damaged entry, whose bytes were kept elsewhere.
    func remove(_ slot: UInt64) throws(FileError) { try write(removed, at: slot) }

    /// Returns the bytes of slots.
    func bytes(of slots: [UInt64]) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        for slot in slots { bytes += try onSlots(slot, 1) { Array($0) } }
        return bytes
    }

    func hasDamage(key: borrowing SecretBytes) throws(FileError) -> Bool {
        try !forEach(key: key, { (_) throws(FileError) in true }).isEmpty
    }

    /// Passes every entry to a closure until that returns `false`, in the order of the slots, which is nearly that of
    /// the home slots.
    ///
    /// - Returns: The damaged slots.
    @discardableResult
    func forEach(
        key: borrowing SecretBytes, _ body: (WatermarkEntry) throws(FileError) -> Bool
    ) throws(FileError) -> [UInt64] {
        var damaged: [UInt64] = []
        for start in stride(from: 0, to: slotCount, by: Int(Self.chunk)) {
            let count = min(Self.chunk, slotCount - start)
            // Parsed first: the closure may write to another file of this kind.
            var entries: [WatermarkEntry] = []
            try onSlots(start, count) { bytes in
                for index in 0..<count {
                    let bytes = Self.slot(bytes, index)
                    if Self.isEqual(bytes, empty) || Self.isEqual(bytes, removed) { continue }
                    if let entry = WatermarkEntry(parsing: bytes, key: key) {
                        entries.append(entry)
                    } else {
                        damaged.append(start + index)
                    }
                }
            }
            for entry in entries {
                guard try body(entry) else { return damaged }
            }
        }
        return damaged
    }

    /// The high bits of a keyed hash: no other user can choose names that share a home slot, and a larger file has its
    /// entries in the same order.
    private func home(of name: NameTag, _ key: borrowing SecretBytes) -> UInt64 {
        let hash = key.withUnsafeBytes { key in
            name.bytes.withUnsafeBytes { name in
                Bytes16(filling: { BLAKE2b.hash(name, key: key, personalization: .watermarkSlot, into: $0) })
            }
        }
        return hash.withUnsafeBytes { $0.number(at: 0, as: UInt64.self) } >> (64 - UInt64(head.bits))
    }

    private func write(_ bytes: [UInt8], at slot: UInt64) throws(FileError) {
        try put(bytes, at: Int64((slot + 1) * UInt64(Self.slotSize)))
    }

    private func put(_ bytes: [UInt8], at offset: Int64) throws(FileError) {
        try bytes.withRawBytes { bytes throws(FileError) in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = uninterruptedCount {
                    pwrite(file, part.baseAddress, part.count, off_t(offset) + off_t(rest.startIndex))
                }
                if count < 0 { throw FileError(errno: Int32(-count), operation: "write", path: path) }
                rest = rest.dropFirst(count)
            }
        }
    }

    private func onSlots<Result>(
        _ slot: UInt64, _ count: UInt64, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(FileError) -> Result {
        let offset = Int64((slot + 1) * UInt64(Self.slotSize))
        return try withUnsafeTemporaryAllocation(byteCount: Int(count) * Self.slotSize, alignment: 8) {
            (buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Result in
            var filled = 0
            while filled < buffer.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                let count = uninterruptedCount {
                    pread(file, rest.baseAddress, rest.count, off_t(offset) + off_t(filled))
                }
                if count < 0 { throw FileError(errno: Int32(-count), operation: "read", path: path) }
                // Shorter than its head says: the rest is damage.
                if count == 0 { rest.initializeMemory(as: UInt8.self, repeating: 0) }
                filled += count == 0 ? rest.count : count
            }
            return body(UnsafeRawBufferPointer(buffer))
        }
    }

    private static func slot(_ bytes: UnsafeRawBufferPointer, _ index: UInt64) -> UnsafeRawBufferPointer {
        let start = Int(index) * slotSize
        return UnsafeRawBufferPointer(rebasing: bytes[start..<start + slotSize])
    }

    private static func isEqual(_ bytes: UnsafeRawBufferPointer, _ filler: [UInt8]) -> Bool {
        filler.withUnsafeBytes { ConstantTime.areEqual(bytes, $0) }
    }

    private static func onBytes<Result>(
        _ bytes: inout [UInt8], _ body: (UnsafeMutableRawBufferPointer) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        let result: Swift.Result<Result, FileError> = bytes.withUnsafeMutableBytes { bytes in
            do throws(FileError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
