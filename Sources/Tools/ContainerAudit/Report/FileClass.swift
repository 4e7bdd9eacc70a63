/// The class of a file, determined by its kind, its place and its first bytes.
///
/// The set grows: treat an unknown class as content that is not sealed.
public struct FileClass: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The class's stable name, as in JSON.
    public let rawValue: String
    /// Creates a class from its stable name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The stable name.
    public var description: String { rawValue }
}

// Sealed files.
extension FileClass {
    /// A sealed blob that contains a record.
    public static let sealedRecord = FileClass(rawValue: "sealedRecord")
    /// A sealed blob that contains a stream.
    public static let sealedStream = FileClass(rawValue: "sealedStream")
    /// A vault, or the sealed part of one.
    public static let sealedVault = FileClass(rawValue: "sealedVault")
    /// A file with the first bytes or the name of a sealed blob, whose header is refused.
    public static let sealedUnknown = FileClass(rawValue: "sealedUnknown")
    /// A copy of a refused blob, kept for analysis.
    public static let quarantined = FileClass(rawValue: "quarantined")
    /// The note beside such a copy, with the reason of the refusal.
    public static let quarantineNote = FileClass(rawValue: "quarantineNote")

    /// True if it claims to be sealed.
    public var isSealed: Bool {
        [.sealedRecord, .sealedStream, .sealedVault, .sealedUnknown].contains(self)
    }
}

// Other files of a container.
extension FileClass {
    /// The container's lock file.
    public static let lockFile = FileClass(rawValue: "lockFile")
    /// Space that is reserved for deletions by a user's programs: a file of zeros.
    public static let reserve = FileClass(rawValue: "reserve")
    /// The container's copy of its registry entry: its group, members and quota.
    public static let registryCopy = FileClass(rawValue: "registryCopy")
    /// The name of the backend that keeps the container's records.
    public static let backendName = FileClass(rawValue: "backendName")
    /// The database of the container's records, or a file of SQLite beside it. The records are listed themselves.
    public static let sealedDatabase = FileClass(rawValue: "sealedDatabase")
    /// The group's signed list of writers.
    public static let roster = FileClass(rawValue: "roster")
    /// A file of a notification or a coordinated access in its own directory, without user contents.
    public static let signal = FileClass(rawValue: "signal")
    /// A new value that a writer has not named yet, or that a crash left.
    public static let temporary = FileClass(rawValue: "temporary")
    /// A file that the audit itself uses or writes: an ignore list, a baseline, a report.
    public static let auditFile = FileClass(rawValue: "auditFile")
    /// A file without contents.
    public static let empty = FileClass(rawValue: "empty")
    /// A key file of a vault, which does not belong in a container.
    public static let keyFile = FileClass(rawValue: "keyFile")
    /// A directory that was not entered. Entered directories are not listed.
    public static let directory = FileClass(rawValue: "directory")
    /// A symbolic link.
    public static let link = FileClass(rawValue: "link")
    /// A FIFO, socket or device.
    public static let special = FileClass(rawValue: "special")
    /// A file that could not be examined.
    public static let unreadable = FileClass(rawValue: "unreadable")
}

// Plaintext by its form.
extension FileClass {
    /// JSON text.
    public static let json = FileClass(rawValue: "json")
    /// An XML property list.
    public static let propertyList = FileClass(rawValue: "propertyList")
    /// A binary property list.
    public static let binaryPropertyList = FileClass(rawValue: "binaryPropertyList")
    /// An SQLite database or its write-ahead log.
    public static let sqlite = FileClass(rawValue: "sqlite")
    /// Other text in UTF-8 or UTF-16.
    public static let text = FileClass(rawValue: "text")
    /// Other bytes, possibly encrypted by another program.
    public static let binary = FileClass(rawValue: "binary")

    /// True if it is unsealed content.
    public var isPlaintext: Bool {
        [.json, .propertyList, .binaryPropertyList, .sqlite, .text, .binary].contains(self)
    }
}
