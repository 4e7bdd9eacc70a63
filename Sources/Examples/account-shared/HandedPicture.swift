public import SealedState

/// The message with which the Share Extension hands a picture to the app. The picture itself is a sealed file.
public struct HandedPicture: SealedRecord {
    /// The mailbox's name.
    public static let recordName = "handed-pictures"
    /// The version of the message's schema.
    public static let schemaVersion = 1

    /// The title for people.
    public var title: String
    /// The name of the sealed file.
    public var file: String

    /// Creates a message.
    public init(title: String, file: String) {
        self.title = title
        self.file = file
    }
}

/// The question that the app asks its helper: the initials of a name.
public struct InitialsQuestion: Codable, Sendable {
    /// The channel's name.
    public static let channel = "initials"
    /// The name.
    public var name: String

    /// Creates a question.
    public init(name: String) { self.name = name }
}

/// The helper's answer.
public struct InitialsAnswer: Codable, Sendable {
    /// At most two letters.
    public var initials: String

    /// Creates an answer.
    public init(initials: String) { self.initials = initials }
}
