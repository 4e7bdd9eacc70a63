import AppGroups
import TestSupport

@testable import KeyVault

/// A vault with a passphrase, a cache of one kind, and processes that share them. The cache is emptied at the end.
final class UnlockFixture {
    let vault: VaultFixture
    let sandbox: CacheSandbox
    /// 32 hexadecimal digits.
    let vaultID: String
    private let words: String
    private let names: [UnlockName]

    /// - Parameter withService: True if an unattended recipient opens it as well. Then a lock leaves *after
    ///   first unlock*.
    init(_ kind: CacheKind, passphrase words: String = "correct-horse", withService: Bool = false) throws {
        vault = try VaultFixture()
        sandbox = try CacheSandbox(kind)
        self.words = words
        let made = try vault.create(with: passphrase(words))
        if withService { try made.addSlot(.recipient(try Identity.random().recipient, unattended: true)) }
        vaultID = made.vaultID
        let id = made.heldContents.vaultID
        names = ProtectionClass.allCases.map { UnlockName(vaultID: id, $0) }
    }

    /// Removes the original names, because a test may have replaced the vault.
    deinit { for name in names { try? sandbox.caches.remove(name) } }

    func person() throws -> Vault { try onCache { try vault.open(with: passphrase(words)) } }

    /// Opens the vault without any credential.
    func withoutCredential() throws(VaultError) -> Vault {
        try onCache { () throws(VaultError) in try vault.open(with: .automatic) }
    }

    @discardableResult
    func lock(everything: Bool = false) throws(VaultError) -> LockReport {
        try onCache { () throws(VaultError) in
            try Vault.lock(vault.accessGroup, in: vault.home, everything: everything)
        }
    }

    func status() throws(VaultError) -> VaultStatus {
        try onCache { () throws(VaultError) in try Vault.status(vault.accessGroup, in: vault.home) }
    }

    func availability() throws(VaultError) -> VaultAvailability {
        try onCache { () throws(VaultError) in try Vault.availability(vault.accessGroup, in: vault.home) }
    }

    /// Runs a body in which opened vaults use this fixture's cache.
    func onCache<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        var result: Swift.Result<Result, Failure>?
        UnlockCaches.$current.withValue(sandbox.caches) {
            do throws(Failure) { result = .success(try body()) } catch { result = .failure(error) }
        }
        guard let result else { preconditionFailure("the body has run") }
        return try result.get()
    }

    /// Starts a process with a separate session keyring, as another login or a service has.
    func session() throws -> ProbeSession {
        let child = try ChildProcess(
            "sealed-probe", ["vault-session", vault.directory.path, "\(vault.group)", sandbox.argument])
        let session = ProbeSession(child: child, words: words, fixture: self)
        guard try child.readLine() == "ready" else { throw ProbeSession.Failure() }
        return session
    }
}

/// A running `sealed-probe vault-session`.
struct ProbeSession {
    struct Failure: Error {}

    let child: ChildProcess
    let words: String
    /// The fixture, which must exist as long as the process needs its resources.
    let fixture: UnlockFixture

    func ask(_ line: String) throws -> String {
        try child.write(line + "\n")
        guard let answer = try child.readLine() else { throw Failure() }
        return answer
    }

    func openAsPerson() throws -> String { try ask("open \(words)") }
}
