internal import Glibc
internal import SharedFiles
internal import Synchronization

extension Entitlements {
    /// Returns this program's entitlements; nil if it has none and may open every group.
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
            let found = try ProgramEntitlements(
                environment: EntitlementEnvironment.read(), executable: ProgramPath.read()
            ).read()
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

    let environment: [String: String]
    let executable: String?

    func read() throws(AppGroupError) -> Entitlements? {
        if let named = environment[EntitlementEnvironment.file] {
            guard named.hasPrefix("/") else { throw .relativeEntitlements(named) }
            return try read(named, mayBeMissing: false)
        }
        guard let executable else { return nil }
        return try read("\(executable).entitlements", mayBeMissing: true)
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
