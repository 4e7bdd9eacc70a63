/// How a group's container comes to be, as one of Apple's two systems documents it.
///
/// It decides what is made where there is no container yet. One that exists keeps the style it was made in, whoever opens
/// it.
public enum ContainerBehavior: String, Hashable, Sendable, CaseIterable {
    /// The container lies under the group's identifier, gets all standard directories and is never removed.
    case macOS
    /// The container lies under a name that says nothing, gets only `Library/Caches`, and goes when the last of its member
    /// programs leaves.
    case iOS

    /// The style of a container that is made this way.
    public var style: ContainerStyle {
        switch self {
        case .macOS: .named
        case .iOS: .opaque
        }
    }
}
