import AppGroups
import CryptoPrimitives
import FoundationEssentials
import Glibc
import KeyVault
import Sealing
import TestSupport

@testable import SealedState

/// A record that needs the vault to be unlocked.
struct Guarded: SealedRecord, Equatable {
    static let recordName = "guarded"
    static let schemaVersion = 1
    static let protection = RecordProtection.whenUnlocked
    var number: Int
}

/// The same record as a program of another version has it.
struct Unguarded: SealedRecord, Equatable {
    static let recordName = Guarded.recordName
    static let schemaVersion = 1
    static let protection = RecordProtection.afterFirstUnlock
    var number: Int
}

/// A home whose vault opens with a person's identity, and with a key file that does not give access to *when unlocked*.
struct ProtectedSandbox {
    let fixture: StoreFixture
    let identity: Identity
    /// A fresh runtime directory in memory, for unlocked keys.
    let runtime: String
    let person: SealedStore
    /// A store without a person's credential: locked until a person unlocks.
    let service: SealedStore

    init() throws {
        fixture = try StoreFixture()
        let identity = try Identity.random()
        self.identity = identity
        runtime = try Self.runtimeDirectory()
        let (home, group) = (fixture.home, fixture.group)
        _ = try Vault.create(
            AccessGroup(group), in: home, slots: [.recipient(identity.recipient), .defaultKeyFile],
            openingWith: .identity(identity))
        person = try Self.open(fixture, .identity(identity), runtime)
        service = try Self.open(fixture, .automatic, runtime)
    }

    static let isAvailable = access("/dev/shm", W_OK) == 0

    private static func runtimeDirectory() throws -> String {
        var template = Array("/dev/shm/sealed-protection-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw NoRuntimeDirectory() }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private struct NoRuntimeDirectory: Error {}

    /// Removes the unlocked keys.
    func end() { _ = try? ChildProcess.run("/bin/rm", ["-r", runtime]) }

    private static func open(
        _ fixture: StoreFixture, _ credential: VaultCredential, _ runtime: String
    ) throws -> SealedStore {
        var options = StoreOptions()
        options.durability = .unsynced
        options.now = { [place = fixture.place] in withExtendedLifetime(place) { Date() } }
        return try UnlockCaches.$current.withValue(.runtimeFile(below: runtime)) {
            try SealedStore(group: fixture.group, in: fixture.home, unlockingWith: credential, options: options)
        }
    }

    /// Unlocks for all programs, as another program of a person does.
    func unlock() throws {
        let store = try Self.open(fixture, .identity(identity), runtime)
        try store.vault.unlock()
    }

    func lock() throws {
        try UnlockCaches.$current.withValue(.runtimeFile(below: runtime)) {
            try Vault.lock(AccessGroup(fixture.group), in: fixture.home)
        }
    }

    func header(_ name: String = Guarded.recordName) throws -> BlobHeader {
        try UnverifiedHeader(parsing: fixture.blob(name)).claimed
    }

    /// Returns the class of the key that a record is sealed with.
    func protection(_ name: String = Guarded.recordName) throws -> ProtectionClass? {
        let id = try header(name).keyID
        return try person.vault.keySummaries().first { $0.id == id }?.protection
    }

    /// Starts a program of its own with a store open.
    func session(asPerson: Bool) throws -> ChildProcess {
        var words = ["protection-session", fixture.place.path, fixture.group.identifier, runtime]
        if asPerson {
            let file = fixture.place.path("identity")
            if !SystemFile.exists(file) { try identity.write(to: file) }
            words.append(file)
        }
        let child = try ChildProcess("sealed-probe", words)
        guard try child.readLine() == "ready" else { throw NoRuntimeDirectory() }
        return child
    }
}

extension ChildProcess {
    /// Returns the program's answer to one line.
    func ask(_ line: String) throws -> String? {
        try write(line + "\n")
        return try readLine()
    }
}
