extension GroupContainer {
    /// The subdirectories that every container has, as on macOS.
    public enum StandardDirectory: CaseIterable, Hashable, Sendable {
        /// What the programs of the group need to work: records, databases.
        case applicationSupport
        /// What can be made again, and may vanish at any time.
        case caches
        /// Settings.
        case preferences

        /// The path below the container, for example `Library/Application Support`.
        public var relativePath: String { "\(Self.parent)/\(name)" }

        /// The directory that holds all of them.
        static let parent = "Library"

        var name: String {
            switch self {
            case .applicationSupport: "Application Support"
            case .caches: "Caches"
            case .preferences: "Preferences"
            }
        }
    }
}
