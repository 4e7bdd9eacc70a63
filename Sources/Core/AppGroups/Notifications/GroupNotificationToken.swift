/// The state of a notification at one moment: two that are equal say that nobody posted it in between.
///
/// It says nothing else; which of two is older can't be told.
public struct GroupNotificationToken: Hashable, Sendable {
    /// What the latest post left: 16 random bytes, none where there was none yet.
    let bytes: [UInt8]

    static let size = 16
    static let none = Self(bytes: [])

    static func random() -> Self {
        var generator = SystemRandomNumberGenerator()
        return Self(bytes: (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
