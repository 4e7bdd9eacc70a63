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

    /// The limit for records is below 64 KiB or above 64 MiB.
    public static let invalidRecordLimit = Self(rawValue: "invalidRecordLimit")
}

extension AppGroupError {
    static func damagedRegistry(_ path: String, of group: AppGroup, because reason: String) -> Self {
        Self(
            code: .damagedRegistry, operation: "read the registry of \(group)", subject: path, reason: reason,
            advice: "Correct it, or move it away; the container is then found by its own copy: "
                + "mv \(path.shellQuoted) \((path + ".damaged").shellQuoted)")
    }

    static func damagedCopy(_ path: String, of group: AppGroup, because reason: String) -> Self {
        Self(
            code: .damagedRegistry, operation: "find the container of \(group)", subject: path, reason: reason,
            advice:
                "It names the container's group. If that is this group, correct it or move it away; otherwise move the "
                + "directory away: ls -l \(path.shellQuoted)")
    }

    /// Creates an error for a registered container with a random name and without its copy.
    static func missingCopy(_ path: String, of group: AppGroup, in home: GroupsHome) -> Self {
        let registry = RegistryPlace(group: group, home: home).path
        return Self(
            code: .damagedRegistry, operation: "find the container of \(group)", subject: path,
            reason: "it is missing, and only this file names the container's group",
            advice: "If the container belongs to the group, copy the registry's file there: "
                + "cp -p \(registry.shellQuoted) \(path.shellQuoted)")
    }

    static func ambiguousContainer(_ paths: [String], of group: AppGroup) -> Self {
        Self(
            code: .ambiguousContainer, operation: "find the container of \(group)", subject: paths[0],
            reason: paths.count == 1
                ? "it has the group's name, and the registry lists another container for the group"
                : "\(paths.count) directories may be the container, and the registry does not list one of them",
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
            reason: "the registry lists it, and it does not exist",
            advice:
                "Mount its disk, or restore it. To abandon it: sealctl container reset --group \(group)")
    }

    static func leaving(_ departure: ContainerDeparture, of group: AppGroup) -> Self {
        Self(
            code: .containerMissing, operation: "open the container of \(group)", subject: departure.directory,
            reason: "it was abandoned and is being moved to the trash",
            advice: "Create a new one, or see the trash: sealctl container trash list")
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
            code: .notAMember, operation: "remove a member of \(group)",
            subject: DisplayText.identifier(applicationIdentifier), reason: "no member has that name",
            advice: "See the members: sealctl container members --group \(group)")
    }

    static func tooManyMembers(of group: AppGroup) -> Self {
        Self(
            code: .tooManyMembers, operation: "register a member of \(group)", subject: group.identifier,
            reason: "it has \(RegistryEntry.maximumMembers) members already",
            advice: "Remove members that no longer exist: sealctl container members --group \(group)")
    }

    static func wrongStyle(_ found: ContainerStyle, at path: String, of group: AppGroup) -> Self {
        Self(
            code: .wrongStyle, operation: "register a member of \(group)", subject: path,
            reason: "the group's container is \(found.rawValue), and its style cannot change",
            advice: "Register without --behavior, or move everything to a group of another name.")
    }

    package static func notInTrash(_ name: String, because reason: String = "it has no container of that name") -> Self
    {
        Self(
            code: .notInTrash, operation: "restore from the trash", subject: DisplayText.identifier(name),
            reason: reason,
            advice: "See its contents: sealctl container trash list")
    }

    static func invalidQuota(_ bytes: Int64, of group: AppGroup) -> Self {
        Self(
            code: .invalidQuota, operation: "set the quota of \(group)", subject: String(bytes),
            reason: "it is negative", advice: "Give a number of bytes, or none for no quota.")
    }

    static func invalidRecordLimit(_ bytes: Int64, of group: AppGroup) -> Self {
        Self(
            code: .invalidRecordLimit, operation: "set the record limit of \(group)", subject: String(bytes),
            reason: "it is not \(RegistryEntry.recordLimitRange)",
            advice: "Give such a number. Larger contents are sealed files: SealedStore.files, sealctl file put.")
    }

    /// Creates an error for a failure on the registry's own files.
    init(_ error: FileError, _ operation: String, registryOf group: AppGroup) {
        let code: Code =
            switch error.code {
            case .lockTimeout, .lockFileReplaced: .registryBusy
            case .unsafePath, .notDirectory: .notADirectory
            case .unsafeMode, .wrongOwner, .secondName: .unsafeContainer
            case .notShared: .notShared
            default: .file
            }
        let reason = error.code == .secondName ? "it has a second name" : "cannot \(error.operation)"
        self.init(
            code: code, operation: "\(operation) of \(group)", subject: error.path, reason: reason,
            advice: error.advice, underlying: error)
    }
}
