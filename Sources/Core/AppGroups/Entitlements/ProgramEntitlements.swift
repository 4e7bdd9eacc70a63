internal import Glibc
internal import SharedFiles
internal import Synchronization

extension Entitlements {
    /// This program's entitlements; nil for one that has none, which may open every group.
    ///
    /// They are those of the file that the variable `SEALED_ENTITLEMENTS` names, by an absolute path; where it is not set,
    /// of the file `<executable>.entitlements` beside the executable, if there is one. Build settings in the file get
    /// their values from `SEALED_TEAM_ID` and `SEALED_BUNDLE_ID`, else from the file's own team and application identifier.
    ///
    /// The file counts only if it belongs to the effective user or root and nobody else may write it. One that was named or
    /// is there, and cannot be used, is an error, never taken for none. In a program that has more rights than its caller
    /// (set-user-ID, file capabilities) the variables are not looked at.
    ///
    /// Read once in a process's life, by the first call that succeeds.
    /// - Throws: ``AppGroupError`` `unusableEntitlements`, also for a `SEALED_TEAM_ID` that is no team identifier;
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

/// Where a program's entitlements are looked for.
struct ProgramEntitlements {
    /// What was found: maybe nothing, which is an answer as well.
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

/// Where this program's executable lies.
enum ProgramPath {
    private static let link = "/proc/self/exe"
    /// What the kernel adds to the path of a file that has lost its name (proc_pid_exe(5)).
    private static let deletedMark = " (deleted)"

    /// What `/proc/self/exe` points to; nil where there is no `/proc`.
    ///
    /// A program whose file was replaced while it runs, as an update does it, still lies where it lay.
    /// - Throws: ``AppGroupError`` with `unusableEntitlements` for a path that is not UTF-8: repairing it would name another.
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
