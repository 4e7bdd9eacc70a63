/// What a file is, decided by its kind, its place and its first bytes.
///
/// The set grows: treat a class that you do not know as content that is not sealed.
public struct FileClass: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The class's stable name, as in JSON.
    public let rawValue: String
    /// A class by its stable name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The stable name.
    public var description: String { rawValue }
}

// Sealed.
extension FileClass {
    /// A sealed blob that holds a record.
    public static let sealedRecord = FileClass(rawValue: "sealedRecord")
    /// A sealed blob that holds a stream.
    public static let sealedStream = FileClass(rawValue: "sealedStream")
    /// A vault, or the sealed part of one.
    public static let sealedVault = FileClass(rawValue: "sealedVault")
    /// It begins as a sealed blob does, or is named as one, and its header is refused.
    public static let sealedUnknown = FileClass(rawValue: "sealedUnknown")
    /// A copy of a refused blob, kept for whoever wants to know why.
    public static let quarantined = FileClass(rawValue: "quarantined")
    /// The note beside such a copy: why it was refused.
    public static let quarantineNote = FileClass(rawValue: "quarantineNote")

    /// Whether it claims to be sealed.
    public var isSealed: Bool {
        [.sealedRecord, .sealedStream, .sealedVault, .sealedUnknown].contains(self)
    }
}

// What a container has besides.
extension FileClass {
    /// The container's lock file.
    public static let lockFile = FileClass(rawValue: "lockFile")
    /// Space that a user's programs keep for deletions: a file of zeros.
    public static let reserve = FileClass(rawValue: "reserve")
    /// The container's copy of what the registry has of it: its group, members and quota.
    public static let registryCopy = FileClass(rawValue: "registryCopy")
    /// The group's signed list of writers.
    public static let roster = FileClass(rawValue: "roster")
    /// What a notification or a coordinated access leaves in its own directory: no contents of anybody.
    public static let signal = FileClass(rawValue: "signal")
    /// A new value that a writer has not given its name yet, or that a crash left.
    public static let temporary = FileClass(rawValue: "temporary")
    /// What the audit itself was told to use or to write: an ignore list, a baseline, a report.
    public static let auditFile = FileClass(rawValue: "auditFile")
    /// A file without contents.
    public static let empty = FileClass(rawValue: "empty")
    /// A key file of a vault: it has no business in a container.
    public static let keyFile = FileClass(rawValue: "keyFile")
    /// A directory that was not entered; those that were are not listed.
    public static let directory = FileClass(rawValue: "directory")
    /// A symbolic link.
    public static let link = FileClass(rawValue: "link")
    /// A FIFO, socket or device.
    public static let special = FileClass(rawValue: "special")
    /// It could not be looked at.
    public static let unreadable = FileClass(rawValue: "unreadable")
}

// Plaintext, by what it looks like.
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
    /// Other bytes; they may be encrypted by something else.
    public static let binary = FileClass(rawValue: "binary")

    /// Whether it is content that was not sealed.
    public var isPlaintext: Bool {
        [.json, .propertyList, .binaryPropertyList, .sqlite, .text, .binary].contains(self)
    }
}
