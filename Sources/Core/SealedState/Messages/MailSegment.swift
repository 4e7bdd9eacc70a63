internal import AppGroups
internal import Glibc
internal import Sealing
internal import SharedFiles

/// The lane of one producer in a mailbox: where its segments are, and what its messages are bound to.
///
/// A lane has the name `_sealed/mailboxes/<mailbox>/<producer>` like a record, for its lock, its rights in a roster and
/// the accepted states. No record has that name.
struct MailLane: Sendable {
    let producer: String
    let place: RecordPlace
    /// The directory of the mailbox below the container.
    let directory: String
    /// The context of the blob that begins each segment.
    let coverContext: BlobContext

    init(_ mailbox: MailboxName, _ producer: String, in group: AppGroup) throws(StoreError) {
        self.producer = producer
        directory = mailbox.directory
        place = RecordPlace(try mailbox.lane(of: producer), group: group.identifier)
        coverContext = BlobContext(group: group.identifier, kind: .record, name: place.name.text + "/segment")
    }

    func path(first number: UInt64) -> String {
        "\(directory)/\(producer).\(number)\(ContainerLayout.recordSuffix)"
    }
}

/// The checked name of a mailbox, with its record: one segment of a record's name, at most 64 bytes.
package struct MailboxName: Hashable, Sendable {
    /// The prefix of the names of mailboxes' records.
    package static let namePrefix = MailboxState.recordName + "/"
    /// The most bytes of a mailbox's name, and of a producer's.
    package static let maximumSize = 64

    /// The name as used by programs and people.
    package let name: String
    /// The record that holds what is handled.
    package let recordName: RecordName

    /// - Throws: `StoreError` `.invalidName`.
    package init(_ name: String) throws(StoreError) {
        recordName = try RecordName(reserved: Self.namePrefix + Self.checked(name, "mailbox"))
        self.name = name
    }

    /// The mailbox whose record has a name; nil for any other record.
    package init?(holding record: RecordName) {
        guard record.text.hasPrefix(Self.namePrefix) else { return nil }
        try? self.init(String(record.text.dropFirst(Self.namePrefix.count)))
    }

    var directory: String { ContainerLayout.mailboxes + "/" + name }

    /// Returns the name of a producer's lane.
    func lane(of producer: String) throws(StoreError) -> RecordName {
        try RecordName(reserved: recordName.text + "/" + Self.checked(producer, "producer"))
    }

    private static func checked(_ name: String, _ what: String) throws(StoreError) -> String {
        func refusal(_ reason: String) -> StoreError {
            StoreError(
                .invalidName, "use the \(what) name", name.printable, reason,
                advice: "Use letters, digits, '.', '_' and '-', at most \(maximumSize).")
        }
        guard !name.utf8.contains(UInt8(ascii: "/")) else { throw refusal("It has a slash.") }
        guard name.utf8.count <= maximumSize else { throw refusal("It has \(name.utf8.count) bytes.") }
        do throws(StoreError) { return try RecordName(stored: name).text } catch { throw refusal(error.reason) }
    }
}

/// A file of messages of one producer: a cover, then a frame for each message, in the order of their numbers.
///
/// The cover is a sealed blob without contents. It makes the file one of its key's epoch for every tool that looks at
/// the beginnings of files. All messages of a segment are sealed under that key.
struct MailSegment {
    /// A message as the segment has it; nothing about it is authentic.
    struct Frame {
        /// The number that the message's header claims.
        let number: UInt64
        /// The bytes of the message's blob in the segment.
        let range: Range<Int>
    }

    /// The size of a cover.
    static let coverSize = BlobLayout.blobSize(plaintextSize: 0)
    /// The bytes before each blob: its size as `u32`, and the complement of that.
    static let frameSize = 8
    /// A segment of that size gets no further message.
    static let fullSize = 1 << 20
    /// The largest contents of a message in bytes.
    static let largestMessage = 1 << 20
    /// The largest segment that is read.
    static let largestSize =
        coverSize + fullSize + frameSize + BlobLayout.blobSize(plaintextSize: largestMessage)
        + BlobOpener.signedAllowance

    let path: String
    let bytes: [UInt8]
    /// The whole frames at the beginning of the file.
    let frames: [Frame]
    /// The end of the last whole frame.
    let end: Int
    /// The rest of the file is the beginning of a frame, whose writer was killed.
    let isTorn: Bool

    /// Parses a segment.
    init(_ path: String, _ bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
        var frames: [Frame] = []
        var position = Self.coverSize
        while let range = Self.range(at: position, in: bytes), range.upperBound <= bytes.count {
            let number = bytes.withUnsafeBytes {
                $0.loadUnaligned(fromByteOffset: range.lowerBound + 64, as: UInt64.self)
            }
            frames.append(Frame(number: UInt64(littleEndian: number), range: range))
            position = range.upperBound
        }
        self.frames = frames
        end = position
        let rest = bytes.count - position
        let hasSizes = rest >= Self.frameSize
        isTorn = rest > 0 && (!hasSizes || Self.range(at: position, in: bytes) != nil || Self.isZero(bytes, position))
    }

    func blob(_ frame: Frame) -> [UInt8] { Array(bytes[frame.range]) }

    /// The key that the cover claims: that of all messages.
    var keyID: KeyID? { try? UnverifiedHeader(parsing: Array(bytes.prefix(Self.coverSize))).claimed.keyID }

    /// The message claims the key of the cover.
    func hasKey(_ frame: Frame, _ id: KeyID?) -> Bool {
        (try? UnverifiedHeader(parsing: Array(bytes[frame.range].prefix(BlobLayout.headerSize))).claimed.keyID) == id
    }

    /// Returns the range of the blob whose frame begins at a position; nil if there is no frame.
    private static func range(at position: Int, in bytes: [UInt8]) -> Range<Int>? {
        guard bytes.count - position >= frameSize else { return nil }
        let (size, complement) = bytes.withUnsafeBytes { bytes in
            (
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)),
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self))
            )
        }
        guard size == ~complement, size >= BlobLayout.headerSize, size <= largestSize else { return nil }
        return position + frameSize..<position + frameSize + Int(size)
    }

    /// A file system may leave zeros behind the last bytes after a power loss.
    private static func isZero(_ bytes: [UInt8], _ position: Int) -> Bool { bytes[position...].allSatisfy { $0 == 0 } }

    /// Returns the frame of a blob with the blob.
    static func frame(_ blob: [UInt8]) -> [UInt8] {
        let size = UInt32(blob.count)
        return [size, ~size].flatMap { value in withUnsafeBytes(of: value.littleEndian) { Array($0) } } + blob
    }
}

/// A segment's name in the directory of its mailbox: the producer, and the number of its first message.
struct MailSegmentName: Hashable {
    /// The largest number of a message.
    static let largest: UInt64 = 1 << 62

    let producer: String
    let first: UInt64

    /// Parses `<producer>.<number>.sealed`; nil for any other name.
    init?(leaf: String) {
        guard leaf.hasSuffix(ContainerLayout.recordSuffix) else { return nil }
        let stem = leaf.dropLast(ContainerLayout.recordSuffix.count)
        guard let dot = stem.lastIndex(of: "."), let first = UInt64(stem[stem.index(after: dot)...]),
            (1...Self.largest).contains(first),
            String(first) == stem[stem.index(after: dot)...]
        else { return nil }
        producer = String(stem[..<dot])
        self.first = first
    }

    /// Returns the lane and the first number of a path below the container; nil for a path that no segment has.
    static func place(of path: String, in group: AppGroup) -> (lane: MailLane, first: UInt64)? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == ContainerLayout.mailboxes,
            let name = MailSegmentName(leaf: String(parts[2])),
            let mailbox = try? MailboxName(String(parts[1]))
        else { return nil }
        return (try? MailLane(mailbox, name.producer, in: group)).map { ($0, name.first) }
    }
}

extension SealedStore {
    /// Returns the segments of a mailbox, each producer's in the order of their numbers.
    ///
    /// - Parameter root: The directory with the mailboxes; the container unless stated.
    func mailSegments(
        of mailbox: MailboxName, in root: Directory? = nil
    ) throws(StoreError) -> [String: [UInt64]] {
        var segments: [String: [UInt64]] = [:]
        do throws(FileError) {
            let directory = try (root ?? container.root).directory(mailbox.directory)
            for entry in try directory.entries() where entry.kind == .regular {
                guard let name = MailSegmentName(leaf: entry.name), (try? mailbox.lane(of: name.producer)) != nil else {
                    continue
                }
                segments[name.producer, default: []].append(name.first)
            }
        } catch {
            if error.code != .notFound { throw StoreError(error, "look into the mailbox", mailbox.name) }
        }
        return segments.mapValues { $0.sorted() }
    }

    /// Returns a segment; nil if it was removed since it was listed.
    func mailSegment(
        _ lane: MailLane, first: UInt64, in root: Directory? = nil
    ) throws(StoreError) -> MailSegment? {
        let (path, root) = (lane.path(first: first), root ?? container.root)
        do throws(FileError) {
            let bytes: [UInt8]
            do throws(FileError) { bytes = try root.read(path, limit: MailSegment.largestSize) } catch {
                guard error.code == .tooLarge else { throw error }
                // No sender makes such a file; its beginning may still be a segment.
                bytes = try root.readPrefix(path, count: MailSegment.largestSize).bytes
            }
            return MailSegment(path, bytes)
        } catch {
            // A file that no sender makes is no segment: it must not stop the others.
            if [.notFound, .notRegularFile, .unsafePath, .permissionDenied].contains(error.code) {
                return nil
            }
            throw StoreError(error, "read the messages of", lane.producer)
        }
    }
}
