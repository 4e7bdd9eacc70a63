internal import SharedFiles

// The registry.
extension AppGroupError.Code {
    /// The group's registry, or its copy in the container, is damaged, was edited into something invalid, or has a
    /// newer version. It stays unchanged.
    public static let damagedRegistry = Self(rawValue: "damagedRegistry")

    /// The registry is missing, and more than one container claims to be the group's.
    public static let ambiguousContainer = Self(rawValue: "ambiguousContainer")

    /// A registered container is not there now: its disk may not be mounted. No new container is created in its place.
    public static let containerAway = Self(rawValue: "containerAway")

    /// Another process held the registry's lock for the whole time limit.
    public static let registryBusy = Self(rawValue: "registryBusy")

    /// The identifier or path is not valid for a member program.
    public static let invalidMember = Self(rawValue: "invalidMember")

    /// The group has no member of that name.
    public static let notAMember = Self(rawValue: "notAMember")

    /// The group has the maximum number of members.
    public static let tooManyMembers = Self(rawValue: "tooManyMembers")

    /// The group's container has another style than the requested one.
    public static let wrongStyle = Self(rawValue: "wrongStyle")

    /// The trash contains no item of that name, or the group has another container by now.
    public static let notInTrash = Self(rawValue: "notInTrash")

    /// The quota is not a number of bytes from 0 on.
    public static let invalidQuota = Self(rawValue: "invalidQuota")
}

extension AppGroupError {
    static func damagedRegistry(_ path: String, of group: AppGroup, because reason: String) -> Self {
        Self(
            code: .damagedRegistry, operation: "read the registry of \(group)", subject: path, reason: reason,
            advice: "Mend it, or move it away, then the container is found by its own copy: "
                + "mv \(path.shellQuoted) \((path + ".damaged").shellQuoted)")
    }

    static func damagedCopy(_ path: String, of group: AppGroup, because reason: String) -> Self {
        Self(
            code: .damagedRegistry, operation: "find the container of \(group)", subject: path, reason: reason,
            advice:
                "It says whose container this is. If it is the group's, mend it or move it away; else keep it out of "
                + "the way: ls -l \(path.shellQuoted)")
    }

    /// Creates an error for a registered container with a random name and without its copy.
    static func missingCopy(_ path: String, of group: AppGroup, in home: GroupsHome) -> Self {
        let registry = RegistryPlace(group: group, home: home).path
        return Self(
            code: .damagedRegistry, operation: "find the container of \(group)", subject: path,
            reason: "it is missing, and only it says whose container this is",
            advice: "If it is the group's, put a copy of the registry's file there: "
                + "cp -p \(registry.shellQuoted) \(path.shellQuoted)")
    }

    static func ambiguousContainer(_ paths: [String], of group: AppGroup) -> Self {
        Self(
            code: .ambiguousContainer, operation: "find the container of \(group)", subject: paths[0],
            reason: paths.count == 1
                ? "it lies under the group's name, and the registry knows the group by another container"
                : "\(paths.count) directories may be it, and its registry does not decide",
            advice: paths.count == 1
                ? "Move it away: mv \(paths[0].shellQuoted) \((paths[0] + ".old").shellQuoted)"
                : "Keep one and move the others away: \(paths.map(\.shellQuoted).joined(separator: " "))")
    }

    /// `true` if the group has no container, or it is away.
    package var meansNoContainer: Bool { code == .containerMissing || code == .containerAway }

    /// Creates an error for a registered container that is not there.
    static func containerAway(_ path: String, of group: AppGroup) -> Self {
        Self(
            code: .containerAway, operation: "open the container of \(group)", subject: path,
            reason: "the registry has it there, and it is gone",
            advice:
                "Bring it back: mount its disk, or restore it. To give it up: sealctl container reset --group \(group)")
    }

    static func leaving(_ departure: ContainerDeparture, of group: AppGroup) -> Self {
        Self(
            code: .containerMissing, operation: "open the container of \(group)", subject: departure.directory,
            reason: "it was given up and is on its way to the trash",
            advice: "Make a new one, or see what is there: sealctl container trash list")
    }

    static func invalidMember(_ subject: String, _ reason: String) -> Self {
        Self(
            code: .invalidMember, operation: "name a member", subject: subject, reason: reason,
            advice:
                "Name the program as its entitlements do, such as ABCDE12345.com.example.app, and its executable by an "
                + "absolute path.")
    }

    static func notAMember(_ applicationIdentifier: String, of group: AppGroup) -> Self {
        Self(
            code: .notAMember, operation: "take a member out of \(group)",
            subject: DisplayText.identifier(applicationIdentifier), reason: "no member has that name",
            advice: "See who is one: sealctl container members --group \(group)")
    }

    static func tooManyMembers(of group: AppGroup) -> Self {
        Self(
            code: .tooManyMembers, operation: "register a member of \(group)", subject: group.identifier,
            reason: "it has \(RegistryEntry.maximumMembers) members already",
            advice: "Take out those that are gone: sealctl container members --group \(group)")
    }

    static func wrongStyle(_ found: ContainerStyle, at path: String, of group: AppGroup) -> Self {
        Self(
            code: .wrongStyle, operation: "register a member of \(group)", subject: path,
            reason: "the group's container is \(found.rawValue), and keeps its style",
            advice: "Register without --behavior, or move everything to a group of another name.")
    }

    package static func notInTrash(_ name: String, because reason: String = "nothing has that name there") -> Self {
        Self(
            code: .notInTrash, operation: "restore from the trash", subject: DisplayText.identifier(name),
            reason: reason,
            advice: "See what is there: sealctl container trash list")
    }

    static func invalidQuota(_ bytes: Int64, of group: AppGroup) -> Self {
        Self(
            code: .invalidQuota, operation: "set the quota of \(group)", subject: String(bytes),
            reason: "it is below zero", advice: "Give a number of bytes, or none for no quota.")
    }

    /// Creates an error for a failure on the registry's own files.
    init(_ error: FileError, _ operation: String, registryOf group: AppGroup) {
        let code: Code =
            switch error.code {
            case .lockTimeout, .lockFileReplaced: .registryBusy
            case .unsafePath, .notDirectory: .notADirectory
            case .unsafeMode, .wrongOwner: .unsafeContainer
            case .notShared: .notShared
            default: .file
            }
        self.init(
            code: code, operation: "\(operation) of \(group)", subject: error.path, reason: "cannot \(error.operation)",
            advice: error.advice, underlying: error)
    }
}
