public import AppGroups
public import FoundationEssentials
public import KeyVault
internal import SharedFiles
internal import SystemPackage

/// Reports the contents of a container and its faults.
///
/// The audit changes nothing: it takes no lock, writes no file, and leaves the readers' accepted states as they are. A
/// database of records is opened as the group's programs open it; SQLite may then move the database's log into it.
public struct ContainerAuditor: Sendable {
    let options: AuditOptions
    var limits: AuditLimits { options.limits }
    let now: @Sendable () -> Date

    /// Creates an auditor.
    ///
    /// - Parameters:
    ///   - limits: The limits on an audit's cost.
    ///   - now: The time of day, which determines expiry.
    public init(limits: AuditLimits = AuditLimits(), now: @escaping @Sendable () -> Date = { Date() }) {
        var options = AuditOptions()
        options.limits = limits
        self.init(options: options, now: now)
    }

    /// Creates an auditor.
    ///
    /// - Parameters:
    ///   - options: The scope, the limits and the exclusions.
    ///   - now: The time of day.
    public init(options: AuditOptions, now: @escaping @Sendable () -> Date = { Date() }) {
        var options = options
        options.limits = options.limits.bounded
        self.options = options
        self.now = now
    }

    /// Audits any directory without keys: shapes, modes, plaintext.
    ///
    /// - Throws: `AuditError`: `.notFound`, `.notADirectory`, `.permissionDenied`, `.unreadable`.
    public func audit(path: String) throws(AuditError) -> AuditReport {
        let access = VaultAccess.withoutKeys(path, because: "no group was named. Their places were not checked.")
        let root = try open(FilePath(path), of: nil)
        let database = RecordDatabase.find(in: root, of: nil, options.backend)
        return try run(in: root, database, of: nil, access: access, missingVault: nil)
    }

    /// Audits a group's container with its vault: opens every sealed blob, and compares it with the states that were
    /// accepted before.
    ///
    /// If the vault is locked, absent or damaged, the audit runs without keys and notes this.
    /// - Parameters:
    ///   - group: The app group.
    ///   - home: The home of groups; `nil` means `SEALED_GROUPS_HOME`, or else the XDG directories.
    ///   - credential: The credential for the vault; by default its key file.
    /// - Throws: `AuditError`: `.containerMissing`, `.notADirectory`, `.permissionDenied`, `.unreadable`,
    ///   `.invalidHome`; `.wrongPassphrase` and `.wrongKeyFile` only for an explicit credential; `.withoutKeys` if the
    ///   options require the vault.
    public func audit(
        group: AppGroup, in home: GroupsHome? = nil, credential: VaultCredential = .automatic
    ) throws(AuditError) -> AuditReport {
        let home = try AuditError.resolving(home)
        var access = try admission(of: group, in: home)
        let root = try open(try Self.place(of: group, in: home), of: group)
        let database = RecordDatabase.find(in: root, of: group, options.backend)
        if access.findings.isEmpty && access.notes.isEmpty {
            let opener = VaultOpener(group: group, home: home, credential: credential, backend: options.backend)
            access = try options.usesVault ? opener.open(beside: database) : opener.unused
        }
        if options.requiresVault, access.store == nil { throw .withoutKeys(group, access.notes.first) }
        access.findings +=
            GroupEnvironment(
                group: group, home: home, credential: credential, keyFiles: options.keyFiles
            ).findings
        let vaultPath = VaultPlace(AccessGroup(group), in: home).path
        return try run(
            in: root, database, of: (group, home), access: access, missingVault: access.isAbsent ? vaultPath : nil)
    }
}

extension ContainerAuditor {
    private static func place(of group: AppGroup, in home: GroupsHome) throws(AuditError) -> FilePath {
        do throws(AppGroupError) { return try GroupContainer.place(of: group, in: home, isStrict: false) } catch {
            throw AuditError(error, group)
        }
    }

    private func open(_ path: FilePath, of group: AppGroup?) throws(AuditError) -> Directory {
        do throws(FileError) { return try Directory.open(path) } catch { throw AuditError(error, auditing: group) }
    }

    private func run(
        in root: Directory, _ database: RecordDatabase?, of group: (AppGroup, GroupsHome)?, access: VaultAccess,
        missingVault: String?
    ) throws(AuditError) -> AuditReport {
        var options = options
        options.limits.containerRecordSize = Self.recordLimit(of: group, root)
        do throws(FileError) {
            return try AuditRun(root: root, database, group: group, access: access, options: options, clock: now)
                .report(missingVault: missingVault)
        } catch {
            throw AuditError(error, auditing: group?.0)
        }
    }

    /// Returns the limit of the container's programs; nil for the usual one, and where no registry can be read.
    private static func recordLimit(of group: (AppGroup, GroupsHome)?, _ root: Directory) -> Int? {
        let entry = group.flatMap { try? GroupRegistry($0.0, in: $0.1).entry() } ?? ContainerCopy.entry(in: root)
        return entry?.recordLimit.map { Int(clamping: $0) }
    }

    /// Returns the access to a container that the group's programs would open. If they would refuse it, it is audited
    /// without keys, and the reason is a finding.
    private func admission(of group: AppGroup, in home: GroupsHome) throws(AuditError) -> VaultAccess {
        do throws(AppGroupError) {
            _ = try GroupContainer.open(group, in: home, creating: false)
            return VaultAccess()
        } catch {
            guard error.code == .unsafeContainer, !AuditError.isShortage(error.errno) else {
                throw AuditError(error, group)
            }
            return .refused(error, group)
        }
    }
}

/// The parts of a group outside its container: its vault, its key file, its registry and its programs.
struct GroupEnvironment {
    let group: AppGroup
    let home: GroupsHome
    let credential: VaultCredential
    /// The secret key files outside the usual place.
    let keyFiles: [String]

    /// The findings outside the container, which require no key.
    var findings: [Finding] {
        VaultFiles(group: group, home: home, credential: credential).findings
            + VaultSlots(group: group, home: home).findings + MemberPrograms(group: group, home: home).findings
            + UnprotectedKeys(group: group, home: home, stated: keyFiles).findings
            + VaultEntitlements(group: group, home: home).findings
    }
}
