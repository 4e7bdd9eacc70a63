internal import SharedFiles

extension AppGroupError.Code {
    /// A notification's name is empty or has more than 128 bytes.
    public static let invalidNotificationName = Self(rawValue: "invalidNotificationName")
}

extension AppGroupError {
    static func invalidNotificationName(_ name: String) -> Self {
        Self(
            code: .invalidNotificationName, operation: "use the notification's name",
            subject: DisplayText.identifier(name),
            reason: name.isEmpty ? "it is empty" : "it has \(name.utf8.count) bytes",
            advice: "Use a name of 1 to \(NotificationName.maximumLength) bytes, such as com.example.app.changed.")
    }

    /// What a failure on a notification's own file means.
    init(_ error: FileError, withNotification name: String) {
        self.init(
            code: .file, operation: "use the notification \(DisplayText.identifier(name))", subject: error.path,
            reason: "cannot \(error.operation)", advice: error.advice, underlying: error)
    }
}
