#if SQLite
import ContainerAudit
import FoundationEssentials
import Glibc
import KeyVault
import SealedBackends
import SealedState
import SealedStateSQLite
import Sealing
import TestSupport

extension AuditSandbox {
    static let database = "Library/Application Support/Records.sqlite"
    static let marker = ".sealedstate.backend"

    /// Returns a store whose records are in a database, created if it does not exist.
    func databaseStore(unlockingWith credential: VaultCredential = .automatic) throws -> SealedStore {
        var options = StoreOptions()
        options.backend = SQLiteProvider()
        return try SealedStore(group: group, in: home, unlockingWith: credential, options: options)
    }

    /// Creates the records of `filled` in a database that no process has open afterwards.
    static func withClosedDatabase() throws -> AuditSandbox {
        let sandbox = try AuditSandbox()
        _ = try StoredRecords(in: .database, of: sandbox)
        return sandbox
    }

    func auditDatabase(
        _ change: (inout AuditOptions) -> Void = { _ in }, now: Date = Date(),
        credential: VaultCredential = .defaultKeyFile
    ) throws -> AuditReport {
        try ContainerAuditor(options: Self.options(change), now: { now })
            .audit(group: group, in: home, credential: credential)
    }

    func auditDatabaseByPath() throws -> AuditReport {
        try ContainerAuditor(options: Self.options { _ in }).audit(path: container)
    }

    private static func options(_ change: (inout AuditOptions) -> Void) -> AuditOptions {
        var options = AuditOptions()
        options.backend = SQLiteProvider()
        change(&options)
        return options
    }
}

extension AuditReport {
    func row(_ name: String) -> AuditedFile? { file("\(AuditSandbox.database)/\(name)") }
}

/// The place of a container's records.
enum RecordStorage: CaseIterable, Sendable {
    case files, database

    /// Returns the path of a record in reports.
    func path(of name: String) -> String {
        switch self {
        case .files: "\(AuditSandbox.records)/\(name).sealed"
        case .database: "\(AuditSandbox.database)/\(name)"
        }
    }

    /// Returns a path in a report without what depends on the place.
    func neutral(_ path: String) -> String {
        let base = self == .files ? AuditSandbox.records : AuditSandbox.database
        guard path.hasPrefix(base) else { return path }
        let rest = path.dropFirst(base.count)
        return "RECORDS" + (self == .files && rest.hasSuffix(".sealed") ? rest.dropLast(7) : rest)
    }
}

/// The records of `AuditSandbox.filled` in either place, with access to their blobs.
struct StoredRecords {
    let sandbox: AuditSandbox
    let storage: RecordStorage
    let store: SealedStore
    /// The database, or `nil` for files.
    private let backend: (any SealedBackend)?

    init(in storage: RecordStorage, of sandbox: AuditSandbox) throws {
        self.sandbox = sandbox
        self.storage = storage
        store = try storage == .files ? sandbox.store() : sandbox.databaseStore()
        let place = BackendPlace(group: sandbox.group.identifier, directory: sandbox.container, isShared: false)
        backend = try storage == .files ? nil : SQLiteProvider().open(place)
        try store.write(Token(text: "first"))
        try store.write(Token(text: "second"))
        try store.write(Token(text: "of Ada"), named: "accounts/ada")
    }

    func blob(_ name: String) throws -> [UInt8] {
        guard let backend else { return try SystemFile.read(sandbox.path(ofRecord: name)) }
        return try backend.read(BackendKey(name), limit: .max)?.bytes ?? []
    }

    func put(_ name: String, _ blob: [UInt8]) throws {
        guard let backend else { return try sandbox.put("\(AuditSandbox.records)/\(name).sealed", blob) }
        try backend.commit([BackendWrite(BackendKey(name), .put(blob))], durability: .unsynced)
    }

    func change(_ name: String, _ change: (inout [UInt8]) -> Void) throws {
        var bytes = try blob(name)
        change(&bytes)
        try put(name, bytes)
    }

    func remove(_ name: String) throws {
        if let backend { return try backend.commit([BackendWrite(BackendKey(name), .remove)], durability: .unsynced) }
        unlink(sandbox.path(ofRecord: name))
    }

    /// Creates a roster by which one writer alone may write a record, and lets this user's programs accept it.
    func govern(_ name: String) throws {
        let (team, writer) = (try TeamKey.random(), try WriterKey.random())
        let id = [UInt8](repeating: 7, count: 16).withUnsafeBytes { Bytes16($0) }
        let roster = Roster(
            group: sandbox.group.identifier, id: id, version: 1, signedAt: 1, team: team.publicKey,
            writers: [Roster.Writer(writer.publicKey, label: "app")],
            rules: [Roster.Rule(try GovernedPattern(name), grants: [writer.id: .all])])
        try sandbox.put(".sealedstate.roster", SignedRoster(signing: roster, with: team).bytes)
        var options = StoreOptions()
        options.teamKey = team.publicKey
        options.backend = SQLiteProvider()
        _ = try SealedStore(group: sandbox.group, in: sandbox.home, options: options)
    }
}
#endif
