/// A file or directory of a coordinated access, with the kind of access.
public struct FileAccessIntent: Sendable, Hashable {
    /// The expected path. The accessor gets the actual one.
    public let path: String
    let access: Access

    enum Access: Sendable, Hashable {
        case reading(ReadingOptions)
        case writing(WritingPurpose)
    }

    /// Creates an intent to read an item.
    public static func reading(_ path: String, options: ReadingOptions = []) -> FileAccessIntent {
        FileAccessIntent(path: path, access: .reading(options))
    }

    /// Creates an intent to write, move or delete an item, which need not exist.
    public static func writing(_ path: String, for purpose: WritingPurpose = .updating) -> FileAccessIntent {
        FileAccessIntent(path: path, access: .writing(purpose))
    }
}

/// Relaxations for a coordinated reader.
public struct ReadingOptions: OptionSet, Sendable, Hashable {
    /// The option's bit.
    public let rawValue: UInt8

    /// Creates options from their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Presenters are not asked to save first; the reader does not see unsaved changes.
    public static let withoutChanges = ReadingOptions(rawValue: 1)
    /// A symbolic link is resolved, and what it points to is read: the accessor gets that path.
    public static let resolvesSymbolicLink = ReadingOptions(rawValue: 2)
    /// Only name, size, dates and the like are read, so presenters are not asked to save.
    public static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 4)
}

/// The single change that a coordinated writer makes to an item.
public enum WritingPurpose: String, Sendable, Hashable, CaseIterable {
    /// Changes the content, also by replacing the file with a new version of it.
    case updating
    /// Removes the item. Waits for readers and writers of items inside it; presenters are asked first.
    case deleting
    /// Moves or renames the item. Waits for readers and writers of items inside it.
    case moving
    /// Changes the content on top of unsaved changes of presenters: they save first.
    case merging
    /// Puts another item at the path, like deletion and creation. The path is never followed to the old item's new
    /// place.
    case replacing
    /// Changes only mode, owner or dates.
    case changingMetadata

    /// `true` if the access waits for readers and writers of items inside the directory.
    var isStructural: Bool {
        switch self {
        case .deleting, .moving, .replacing: true
        case .updating, .merging, .changingMetadata: false
        }
    }

    /// `true` if presenters lose their item.
    var endsItem: Bool { self == .deleting || self == .replacing }
}
