internal import SharedFiles

/// The items that a process presents, as listed in its file in the domain. An access asks only the processes whose
/// items it concerns.
///
/// Any member can write such a file, so only one claim in it is trusted: that its process wants to be asked.
struct PresenterRegistration: Sendable {
    /// The process's address in the domain; random, so that it is never reused.
    let name: String
    /// The process number in the file; the kernel's credentials replace it once there is a connection.
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

    /// Returns whether the file is a registration, not another file with such a name, which must not be removed.
    static func isOne(_ name: String, in domain: CoordinationDomain) -> Bool {
        guard let bytes = try? domain.directory.read(name + itemsSuffix, limit: maximumSize) else { return false }
        return PresenterRegistration(name: name, bytes) != nil
    }

    /// Removes the files of a process that is dead or has no more presented items.
    static func remove(_ name: String, in domain: CoordinationDomain) {
        // Cleanup only: a file that can't be removed is found again next time.
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

/// The kinds of files in the directory of a coordination domain, for code that examines that directory.
package enum CoordinationFile: Sendable, Hashable {
    /// The lock file of accesses; it is empty.
    case lock
    /// The socket of a process with presenters.
    case socket
    /// The list of the items that a process presents.
    case registration

    /// The maximum size of a list in bytes.
    package static let maximumSize = PresenterRegistration.maximumSize

    /// Returns the kind of a file by its name; nil for a name that the library does not use.
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

    /// Returns whether the bytes are exactly such a list.
    package static func isRegistration(_ bytes: [UInt8]) -> Bool {
        bytes.count <= maximumSize && PresenterRegistration(name: "", bytes) != nil
    }

    /// Addresses are 16 hexadecimal digits.
    private static func hasAddress(_ name: String, _ suffix: String) -> Bool {
        guard name.hasSuffix(suffix), name.utf8.count == 16 + suffix.utf8.count else { return false }
        return name.utf8.prefix(16).allSatisfy(\.isLowerHexDigit)
    }
}
