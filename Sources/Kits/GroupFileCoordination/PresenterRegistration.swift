internal import SharedFiles

/// What a process presents, as its file in the domain says: who is not concerned by an access is not even asked.
///
/// Written by any member, so nothing in it is believed but that its process wants to be asked.
struct PresenterRegistration: Sendable {
    /// The process's address in the domain; random, so that it is never used twice.
    let name: String
    /// What the file says; the kernel's word counts once there is a connection.
    let process: Int32
    let entries: [Entry]

    struct Entry: Sendable {
        let presenter: UInt64
        let path: ItemPath
    }

    static let maximumSize = 256 << 10
    private static let magic: UInt32 = 0x3149_5053
    static let itemsSuffix = ".items"
    static let socketSuffix = ".socket"

    var bytes: [UInt8] {
        var writer = MessageWriter()
        writer.write(Self.magic)
        writer.write(process)
        writer.write(UInt16(truncatingIfNeeded: entries.count))
        for entry in entries {
            writer.write(entry.presenter)
            writer.write(entry.path.string)
        }
        return writer.bytes
    }

    init(name: String, process: Int32, entries: [Entry]) {
        self.name = name
        self.process = process
        self.entries = entries
    }

    init?(name: String, _ bytes: [UInt8]) {
        var reader = MessageReader(bytes)
        guard reader.read() == Self.magic, let process = reader.read(Int32.self), process > 0,
            let entries = reader.readList(atMost: PresenterMessage.maximumPresenters, Self.entry), reader.isAtEnd
        else { return nil }
        self.init(name: name, process: process, entries: entries)
    }

    private static func entry(_ reader: inout MessageReader) -> Entry? {
        guard let presenter = reader.read(UInt64.self), let path = reader.readItem() else { return nil }
        return Entry(presenter: presenter, path: path)
    }

    /// Whether it is a registration, and not something else under such a name, which is not ours to remove.
    static func isOne(_ name: String, in domain: CoordinationDomain) -> Bool {
        guard let bytes = try? domain.directory.read(name + itemsSuffix, limit: maximumSize) else { return false }
        return PresenterRegistration(name: name, bytes) != nil
    }

    /// Removes what a process left: it is dead, or says itself that it presents nothing any more.
    static func remove(_ name: String, in domain: CoordinationDomain) {
        // Tidying: what can't be removed is found dead again next time.
        for suffix in [itemsSuffix, socketSuffix] { try? domain.directory.remove(name + suffix, durability: .unsynced) }
    }

    /// - Throws: `tooLarge` for more than 1024 presenters or 256 KiB of paths.
    func write(in domain: CoordinationDomain) throws(FileError) {
        let bytes = bytes
        guard entries.count <= PresenterMessage.maximumPresenters, bytes.count <= Self.maximumSize else {
            throw FileError(.tooLarge, operation: "register presenters", path: domain.directory.display(name))
        }
        try domain.directory.replace(
            name + Self.itemsSuffix, with: bytes, mode: domain.fileMode, durability: .unsynced)
    }
}

/// What processes leave in the directory of a coordination domain, for who looks at that directory.
package enum CoordinationFile: Sendable, Hashable {
    /// The lock file of accesses; it is empty.
    case lock
    /// The socket at which a process with presenters listens.
    case socket
    /// The list of what a process presents.
    case registration

    /// The most bytes that a list has.
    package static let maximumSize = PresenterRegistration.maximumSize

    /// What has that name; nil for names that no process of ours uses.
    package init?(name: String) {
        if name == CoordinationDomain.lockName {
            self = .lock
        } else if Self.hasAddress(name, PresenterRegistration.socketSuffix) {
            self = .socket
        } else if Self.hasAddress(name, PresenterRegistration.itemsSuffix) {
            self = .registration
        } else {
            return nil
        }
    }

    /// Whether these bytes are such a list and nothing else.
    package static func isRegistration(_ bytes: [UInt8]) -> Bool {
        bytes.count <= maximumSize && PresenterRegistration(name: "", bytes) != nil
    }

    /// Addresses are 16 hexadecimal digits.
    private static func hasAddress(_ name: String, _ suffix: String) -> Bool {
        guard name.hasSuffix(suffix), name.utf8.count == 16 + suffix.utf8.count else { return false }
        return name.utf8.prefix(16).allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
    }
}
