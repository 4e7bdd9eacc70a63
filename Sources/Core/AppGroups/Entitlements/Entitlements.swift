internal import Glibc
internal import SharedFiles
internal import Synchronization

/// A program's entitlements: its groups, checked.
///
/// The Linux kernel does not enforce them. They declare a program's membership and prevent it from opening another
/// group by mistake: see ``EntitlementPolicy``.
public struct Entitlements: Sendable, Hashable {
    /// The app groups of the program, in the order of the file.
    public let applicationGroups: [AppGroup]
    /// The further access groups of the program: those of `keychain-access-groups`, without patterns.
    public let accessGroups: [AccessGroup]
    /// Patterns in `keychain-access-groups`, such as `ABCDE12345.*`, which a provisioning profile grants.
    public let accessGroupPatterns: [AccessGroupPattern]
    /// The application identifier, `ABCDE12345.com.example.app`; nil if the file has none.
    public let applicationIdentifier: String?

    /// Creates entitlements from their parts.
    ///
    /// - Parameter applicationIdentifier: Counts as an access group if it is `<team identifier>.<name>`.
    public init(
        applicationGroups: [AppGroup], accessGroups: [AccessGroup] = [], applicationIdentifier: String? = nil
    ) {
        self.init(
            applicationGroups: applicationGroups, accessGroups: accessGroups, accessGroupPatterns: [],
            applicationIdentifier: applicationIdentifier)
    }

    init(
        applicationGroups: [AppGroup], accessGroups: [AccessGroup], accessGroupPatterns: [AccessGroupPattern],
        applicationIdentifier: String?
    ) {
        self.applicationGroups = applicationGroups
        self.accessGroups = accessGroups
        self.accessGroupPatterns = accessGroupPatterns
        self.applicationIdentifier = applicationIdentifier
    }
}

extension Entitlements {
    /// Returns whether the program belongs to an app group.
    public func holds(_ group: AppGroup) -> Bool { applicationGroups.contains(group) }

    /// Returns whether the program may use an access group: one of `keychain-access-groups`, its own application
    /// identifier, or one of its app groups.
    public func holds(_ group: AccessGroup) -> Bool {
        allAccessGroups.contains(group) || accessGroupPatterns.contains { $0.matches(group) }
    }

    /// Every access group by name, in the search order of Apple's keychain: those of `keychain-access-groups`, the
    /// application identifier, the app groups.
    ///
    /// Source: Apple, "Sharing access to keychain items among a collection of apps".
    public var allAccessGroups: [AccessGroup] {
        accessGroups + (ownAccessGroup.map { [$0] } ?? []) + applicationGroups.map(AccessGroup.init)
    }

    /// The access group of an item that names none, as in Apple's keychain: the first of ``allAccessGroups`` that is
    /// not an app group; nil if only app groups are left.
    public var defaultAccessGroup: AccessGroup? {
        accessGroups.first { $0.teamIdentifier != nil } ?? ownAccessGroup
    }

    /// The group of this program alone.
    private var ownAccessGroup: AccessGroup? {
        let own = applicationIdentifier.flatMap { try? AccessGroup($0) }
        // An app group's name here would open the vault of a group that the program does not belong to.
        return own?.teamIdentifier == nil ? nil : own
    }
}

/// The entitlements that determine which groups may be opened.
///
/// Entitlements prevent mistakes, as on a simulator: the Linux kernel enforces none of them. The container's modes and
/// the vault's keys keep others out.
public enum EntitlementPolicy: Sendable, Hashable {
    /// This program's entitlements, if it has any (see ``Entitlements/ofThisProgram()``). A program without opens every
    /// group, unless the file `/etc/sealedstate/entitlements-required` or the variable `SEALED_ENTITLEMENTS_REQUIRED`
    /// refuses such programs.
    case program
    /// This program's entitlements; a program without is refused.
    case required
    /// Explicit entitlements.
    case given(Entitlements)
    /// No check: for tools that manage groups of others.
    case unchecked

    /// Throws an error for an app group that the entitlements do not contain.
    ///
    /// - Throws: ``AppGroupError`` `notEntitled`, with the groups that they contain and the nearest match, also if
    ///   entitlements are required and missing; the errors of ``Entitlements/ofThisProgram()``.
    package func require(_ group: AppGroup) throws(AppGroupError) {
        guard let entitlements = try entitlements(toUse: group.identifier), !entitlements.holds(group) else { return }
        throw .notEntitled(group, entitlements)
    }

    /// Throws an error for an access group that the entitlements do not contain.
    ///
    /// - Throws: ``AppGroupError`` as ``require(_:)-(AppGroup)``.
    package func require(_ group: AccessGroup) throws(AppGroupError) {
        guard let entitlements = try entitlements(toUse: group.identifier), !entitlements.holds(group) else { return }
        throw .notEntitled(group, entitlements)
    }

    /// Returns the decisive entitlements; nil if every group may be opened.
    private func entitlements(toUse identifier: String) throws(AppGroupError) -> Entitlements? {
        switch self {
        case .program: try ofThisProgram(identifier, requirement: EntitlementRequirement.ofThisProcess)
        case .required: try ofThisProgram(identifier) { .ofProgram }
        case .given(let entitlements): entitlements
        case .unchecked: nil
        }
    }

    /// - Parameter requirement: Called if the program has no entitlements.
    private func ofThisProgram(
        _ identifier: String, requirement: () throws(AppGroupError) -> EntitlementRequirement?
    ) throws(AppGroupError) -> Entitlements? {
        var missing: AppGroupError?
        do throws(AppGroupError) {
            if let found = try Entitlements.ofThisProgram() { return found }
        } catch {
            guard error.underlying?.code == .notFound else { throw error }
            missing = error
        }
        guard let requirement = try requirement() else {
            if let missing { throw missing }
            return nil
        }
        // "None" is not the answer for the rest of the process's life: the file may have been installed since.
        ProgramEntitlements.forgetNone()
        if missing == nil, let found = try Entitlements.ofThisProgram() { return found }
        throw .noEntitlements(identifier, requirement, lookedAt: try ProgramEntitlements.current().place)
    }
}

/// An access group, or all with a common prefix: `ABCDE12345.com.example.app`, `ABCDE12345.*`.
///
/// Provisioning profiles grant patterns. The asterisk matches one or more last components, and is valid only after a
/// team identifier and a dot.
public struct AccessGroupPattern: Hashable, Sendable, CustomStringConvertible {
    /// The pattern as written.
    public let pattern: String

    /// The pattern as written.
    public var description: String { pattern }

    /// Checks a pattern.
    ///
    /// - Throws: ``AppGroupError`` with the codes of ``AccessGroup/init(_:)``; `invalidCharacter` also for an asterisk that
    ///   is not the last component, or one without a team identifier before it.
    public init(_ pattern: String) throws(AppGroupError) {
        if pattern.hasSuffix(Self.wildcard) {
            let prefix = String(pattern.dropLast(Self.wildcard.count))
            if (try? TeamIdentifier(prefix)) == nil {
                guard try AppGroup(prefix, as: .accessGroup).form == .teamPrefixed else {
                    throw AppGroupError(
                        .invalidCharacter, pattern, in: .accessGroup,
                        because: "an asterisk is allowed only after a team identifier")
                }
            }
        } else {
            _ = try AccessGroup(pattern)
        }
        self.pattern = pattern
    }

    /// Creates the pattern that only one access group matches.
    public init(_ accessGroup: AccessGroup) { pattern = accessGroup.identifier }

    /// `true` if more than one access group may match.
    public var isWildcard: Bool { pattern.hasSuffix(Self.wildcard) }

    /// Returns whether an access group matches.
    ///
    /// An app group of the registered form matches only its own name, since it has no team.
    public func matches(_ accessGroup: AccessGroup) -> Bool {
        guard isWildcard else { return accessGroup.identifier == pattern }
        return accessGroup.identifier.hasPrefix(pattern.dropLast())
    }

    private static let wildcard = ".*"
}

extension Entitlements {
    /// Returns this program's entitlements; nil if it has none. It may then open every group, unless entitlements are
    /// required: see ``EntitlementPolicy/program``.
    ///
    /// The variable `SEALED_ENTITLEMENTS` names the file by an absolute path. If it is not set, the file is
    /// `<executable>.entitlements` beside the executable, if that exists. Build settings in the file get their values
    /// from `SEALED_TEAM_ID` and `SEALED_BUNDLE_ID`, else from the file's own team and application identifier.
    ///
    /// The file is valid only if it belongs to the effective user or root and no other user may write it. A file that
    /// was named or exists, and cannot be used, is an error; it never counts as missing. In a program with more rights
    /// than its caller (set-user-ID, file capabilities) the variables are ignored.
    ///
    /// Read once per process, by the first call that succeeds.
    /// - Throws: ``AppGroupError`` `unusableEntitlements`, also for an invalid `SEALED_TEAM_ID`;
    ///   `malformedEntitlements`, `unresolvedVariable`.
    public static func ofThisProgram() throws(AppGroupError) -> Entitlements? {
        try ProgramEntitlements.ofThisProcess.withLock { (known) throws(AppGroupError) in
            if let known { return known.entitlements }
            let found = try ProgramEntitlements.current().read()
            known = ProgramEntitlements.Answer(entitlements: found)
            return found
        }
    }
}

/// The search for a program's entitlements.
struct ProgramEntitlements {
    /// The result of the search, which may be nil.
    struct Answer {
        let entitlements: Entitlements?
    }

    static let ofThisProcess = Mutex<Answer?>(nil)

    /// Makes the next call search again if the last one found nothing.
    static func forgetNone() { ofThisProcess.withLock { if $0?.entitlements == nil { $0 = nil } } }

    let environment: [String: String]
    let executable: String?

    /// Returns the search of this process.
    static func current() throws(AppGroupError) -> ProgramEntitlements {
        ProgramEntitlements(environment: try EntitlementEnvironment.read(), executable: try ProgramPath.read())
    }

    /// The file that is looked for, as a part of a sentence.
    var place: String {
        if let named = environment[EntitlementEnvironment.file] { return "\(named) (\(EntitlementEnvironment.file))" }
        guard let executable else { return "no file, because the program's path is not known" }
        return Self.beside(executable)
    }

    private static func beside(_ executable: String) -> String { "\(executable).entitlements" }

    func read() throws(AppGroupError) -> Entitlements? {
        if let named = environment[EntitlementEnvironment.file] {
            guard named.hasPrefix("/") else { throw .relativeEntitlements(named) }
            return try read(named, mayBeMissing: false)
        }
        guard let executable else { return nil }
        return try read(Self.beside(executable), mayBeMissing: true)
    }

    private func read(_ path: String, mayBeMissing: Bool) throws(AppGroupError) -> Entitlements? {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try EntitlementsFile(path: path).readTrusted() } catch {
            if mayBeMissing && error.code == .notFound { return nil }
            throw .unusableEntitlements(error)
        }
        let variables = try variables()
        do throws(AppGroupError) {
            return try Entitlements(EntitlementsDocument(parsing: bytes), variables: variables)
        } catch {
            throw error.inFile(path)
        }
    }

    private func variables() throws(AppGroupError) -> EntitlementVariables {
        var team: TeamIdentifier?
        if let text = environment[EntitlementEnvironment.team] {
            do throws(AppGroupError) { team = try TeamIdentifier(text) } catch { throw .noTeamIdentifier(text) }
        }
        return EntitlementVariables(teamIdentifier: team, bundleIdentifier: environment[EntitlementEnvironment.bundle])
    }
}

/// The path of this program's executable.
enum ProgramPath {
    private static let link = "/proc/self/exe"
    /// The kernel's suffix for the path of a file that has lost its name (proc_pid_exe(5)).
    private static let deletedMark = " (deleted)"

    /// Returns the target of `/proc/self/exe`; nil without `/proc`.
    ///
    /// A program whose file was replaced while it runs, for example by an update, keeps its path.
    /// - Throws: ``AppGroupError`` with `unusableEntitlements` for a path that is not UTF-8: a repaired path would name
    ///   another file.
    static func read() throws(AppGroupError) -> String? {
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            count = buffer.withMemoryRebound(to: CChar.self) { space in
                space.baseAddress.map { max(0, readlink(link, $0, space.count)) } ?? 0
            }
        }
        guard !bytes.isEmpty else { return nil }
        guard let path = String(validating: bytes, as: UTF8.self) else { throw .unreadableExecutablePath() }
        let isGone = path.hasSuffix(deletedMark) && access(path, F_OK) != 0
        return isGone ? String(path.dropLast(deletedMark.count)) : path
    }
}

/// A requirement of entitlements: a program without any is refused instead of opening every group.
///
/// The program's code, a file of the machine and a variable can each state it; none of them withdraws what another one
/// states.
package struct EntitlementRequirement: Sendable, Hashable {
    /// Where the requirement is stated, as a part of a sentence.
    package let source: String

    /// The requirement of ``EntitlementPolicy/required``.
    static let ofProgram = EntitlementRequirement(source: "its code")

    private static let isExempt = Atomic<Bool>(false)

    /// Exempts this process from the machine's and the environment's requirement, for a tool that manages groups of
    /// others: a person states each group. Entitlements that the tool has still count.
    package static func exemptThisProcess() { isExempt.store(true, ordering: .relaxed) }

    /// Returns the requirement for this process; nil if it may open every group without entitlements.
    ///
    /// - Throws: as ``stated()``.
    static func ofThisProcess() throws(AppGroupError) -> EntitlementRequirement? {
        isExempt.load(ordering: .relaxed) ? nil : try stated()
    }

    /// Returns the requirement that the machine or the environment states.
    ///
    /// - Throws: ``AppGroupError`` `unusableEntitlements` for a value of the variable that is neither yes nor no: its
    ///   author may have meant the stricter one.
    package static func stated() throws(AppGroupError) -> EntitlementRequirement? {
        if let path = MachineEntitlements.current.requirement { return EntitlementRequirement(source: path) }
        let name = EntitlementEnvironment.required
        let value = try EntitlementEnvironment.value(name) ?? ""
        switch value {
        case "1", "true", "yes", "on": return EntitlementRequirement(source: "\(name)=\(value)")
        case "", "0", "false", "no", "off": return nil
        default: throw .unclearRequirement(value)
        }
    }
}

/// The machine's setting: the file `/etc/sealedstate/entitlements-required` requires entitlements of every program. Its
/// contents have no meaning.
package struct MachineEntitlements: Sendable {
    private static let leaf = "entitlements-required"

    /// The directory of the file.
    private let directory: String

    package init(directory: String) { self.directory = directory }

    /// The system's setting; tests replace it for the length of a call.
    @TaskLocal package static var current = MachineEntitlements(directory: "/etc/sealedstate")

    /// The path of the file if it exists, or cannot be looked at; nil only if it does not exist. Any kind of file
    /// counts, a link to nothing as well.
    fileprivate var requirement: String? {
        var facts = stat()
        let path = "\(directory)/\(Self.leaf)"
        return lstat(path, &facts) == 0 || errno != ENOENT ? path : nil
    }
}
