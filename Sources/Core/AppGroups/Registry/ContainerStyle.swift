/// Under what kind of name a container lies.
public enum ContainerStyle: String, Hashable, Sendable, CaseIterable {
    /// Under the group's identifier.
    case named
    /// Under random digits, which a group keeps until its last member leaves or it is reset.
    case opaque

    /// The standard directories that every container of this style has, before anything is put there.
    var directories: [GroupContainer.StandardDirectory] {
        switch self {
        case .named: GroupContainer.StandardDirectory.allCases
        case .opaque: [.caches]
        }
    }
}
