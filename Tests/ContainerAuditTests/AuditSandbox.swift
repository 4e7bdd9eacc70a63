import ContainerAudit
import FoundationEssentials
import Glibc
import SealedState
import Sealing
import TestSupport

struct Token: SealedRecord, Equatable {
    static let recordName = "state"
    static let schemaVersion = 3
    var text: String
    var end: Date?
    var expiresAt: Date? { end }
}

/// A home of its own with one group, its container and its vault.
final class AuditSandbox: Sendable {
    static let records = "Library/Application Support/Records"
    let directory: TemporaryDirectory
    let group: AppGroup
    let home: GroupsHome

    init() throws {
        directory = try TemporaryDirectory()
        group = try AppGroup("group.com.example.audit")
        home = GroupsHome(root: directory.path("home"))
    }

    /// Copies the home to another place, for the view of another process: accepted states are read from disk there.
    init(copying other: AuditSandbox) throws {
        directory = try TemporaryDirectory()
        group = other.group
        home = GroupsHome(root: directory.path("home"))
        let copy = try ChildProcess.run("/bin/cp", ["-a", other.directory.path("home"), directory.path("home")])
        precondition(copy.exitCode == 0, copy.errorText)
    }

    var container: String { directory.path("home/Containers/\(group.identifier)") }
    var vault: String { directory.path("home/Vaults/\(group.identifier)/vault") }
    var keyFile: String { directory.path("home/Keys/\(group.identifier).key") }

    func path(_ relative: String) -> String { "\(container)/\(relative)" }
    func path(ofRecord name: String) -> String { path("\(Self.records)/\(name).sealed") }

    /// Returns the store, created if it does not exist.
    func store() throws -> SealedStore { try SealedStore(group: group, in: home) }

    /// Creates a store with one record of two writes, and one in a directory.
    @discardableResult
    func filled() throws -> SealedStore {
        let store = try store()
        try store.write(Token(text: "first"))
        try store.write(Token(text: "second"))
        try store.write(Token(text: "of Ada"), named: "accounts/ada")
        return store
    }

    func audit(
        limits: AuditLimits = AuditLimits(), now: Date = Date(), credential: VaultCredential = .defaultKeyFile
    ) throws -> AuditReport {
        try ContainerAuditor(limits: limits, now: { now }).audit(group: group, in: home, credential: credential)
    }

    func auditByPath() throws -> AuditReport { try ContainerAuditor().audit(path: container) }

    /// Puts a file into the container, with its directories.
    func put(_ relative: String, _ bytes: [UInt8], mode: UInt32 = 0o600) throws {
        var parent = container
        for segment in relative.split(separator: "/").dropLast() {
            parent += "/\(segment)"
            mkdir(parent, 0o700)
        }
        try SystemFile.write(path(relative), bytes, mode: mode)
    }

    func put(_ relative: String, _ text: String, mode: UInt32 = 0o600) throws {
        try put(relative, Array(text.utf8), mode: mode)
    }

    /// Changes a file in place.
    func change(_ path: String, _ change: (inout [UInt8]) -> Void) throws {
        var bytes = try SystemFile.read(path)
        change(&bytes)
        try SystemFile.write(path, bytes)
    }
}

extension SealedStore {
    /// Seals a blob with the group's key but without a writer's checks.
    func seal(
        _ text: String, as name: String, kind: BlobKind = .record, sequence: UInt64, sealedAt: Date = Date(),
        notAfter: Date? = nil
    ) throws -> [UInt8] {
        let context = BlobContext(group: group.identifier, kind: kind, name: name)
        let milliseconds = { (date: Date) in UInt64(date.timeIntervalSince1970 * 1000) }
        let description =
            kind == .stream
            ? BlobDescription(stream: context, sealedAt: milliseconds(sealedAt))
            : BlobDescription(
                record: context, schemaVersion: 1, sequence: sequence, sealedAt: milliseconds(sealedAt),
                notAfter: notAfter.map(milliseconds) ?? 0)
        let key = try vault.activeKey()
        // Readers check a record's contents, so it has to be JSON.
        let payload = kind == .record ? "\"\(text)\"" : text
        return Array(payload.utf8).withUnsafeBytes { BlobSealer.seal($0, as: description, key: key) }
    }
}

extension AuditReport {
    /// The ids of all findings, sorted.
    var ids: [String] { findings.map(\.id).sorted() }

    func finding(_ id: String) -> Finding? { findings.first { $0.id == id } }
    func file(_ path: String) -> AuditedFile? { files.first { $0.path == path } }
    func verdict(ofRecord name: String) -> Verdict? { file("\(AuditSandbox.records)/\(name).sealed")?.verdict }
}
