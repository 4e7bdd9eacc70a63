/// One file or directory that a coordinated access is about, and what will be done with it.
public struct FileAccessIntent: Sendable, Hashable {
    /// Where it is believed to be. The accessor gets the place where it really is.
    public let path: String
    let access: Access

    enum Access: Sendable, Hashable {
        case reading(ReadingOptions)
        case writing(WritingPurpose)
    }

    /// It will be read.
    public static func reading(_ path: String, options: ReadingOptions = []) -> FileAccessIntent {
        FileAccessIntent(path: path, access: .reading(options))
    }

    /// It will be written, moved or deleted; it need not exist.
    public static func writing(_ path: String, for purpose: WritingPurpose = .updating) -> FileAccessIntent {
        FileAccessIntent(path: path, access: .writing(purpose))
    }
}

/// What a coordinated reader can do without.
public struct ReadingOptions: OptionSet, Sendable, Hashable {
    /// The option's bit.
    public let rawValue: UInt8

    /// Options by their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Presenters are not asked to save first; what they have not saved yet is not seen.
    public static let withoutChanges = ReadingOptions(rawValue: 1)
    /// A symbolic link is resolved, and what it points to is read: the accessor gets that path.
    public static let resolvesSymbolicLink = ReadingOptions(rawValue: 2)
    /// Only name, size, dates and the like are read, so presenters are not asked to save.
    public static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 4)
}

/// What a coordinated writer does with an item; exactly one thing.
public enum WritingPurpose: String, Sendable, Hashable, CaseIterable {
    /// Changes its content, also by replacing the file with a new version of it.
    case updating
    /// Removes it. Waits for readers and writers of what lies in it, and lets presenters make room first.
    case deleting
    /// Moves or renames it. Waits for readers and writers of what lies in it.
    case moving
    /// Changes its content on top of what presenters have not saved yet: they save first.
    case merging
    /// Puts another item in its place, as deleting it and creating a new one would. The path is never followed to where
    /// the old item was moved.
    case replacing
    /// Changes its mode, owner or dates only.
    case changingMetadata

    /// Whether readers and writers of what lies in the directory have to be out of the way.
    var isStructural: Bool {
        switch self {
        case .deleting, .moving, .replacing: true
        case .updating, .merging, .changingMetadata: false
        }
    }

    /// Whether presenters lose what they present.
    var endsItem: Bool { self == .deleting || self == .replacing }
}
