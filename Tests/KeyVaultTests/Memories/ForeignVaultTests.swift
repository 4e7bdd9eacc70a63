import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of a vault at a place where this user remembers another one or none.
@Suite struct ForeignVaultTests {
    private let sandbox: RememberedVault
    private var fixture: VaultFixture { sandbox.fixture }
    private var credential: VaultCredential { sandbox.credential }

    init() throws { sandbox = try RememberedVault() }

    /// The check precedes the credential, so that a planted file tests no passphrase.
    @Test func anotherVaultIsRefusedBeforeACredentialIsTried() throws {
        _ = try sandbox.create()
        let other = try VaultFixture()
        try other.create(with: passphrase("guess"))
        try fixture.restore(try other.copy())
        for credential in [try passphrase("guess"), .identity(sandbox.identity), .defaultKeyFile] {
            #expect(code { () throws(VaultError) in _ = try fixture.open(with: credential) } == .replaced)
        }
        #expect(try Vault.availability(fixture.accessGroup, in: fixture.home) == .replaced)
    }

    @Test func theFirstContactThroughAPublicKeyIsAccepted() throws {
        _ = try sandbox.create()
        try fixture.forget()
        // The slot itself shows that its holder has trusted the vault.
        #expect(throws: Never.self) { try fixture.open(with: credential) }
        let friend = try Identity.random()
        try fixture.open(with: credential).addSlot(.recipient(friend.recipient))
        for _ in 0..<2 {
            #expect(code { () throws(VaultError) in _ = try fixture.open(with: .identity(friend)) } == .notAccepted)
            try fixture.forget()
        }
        let preview = try Vault.preview(fixture.accessGroup, in: fixture.home)
        let accepted = try Vault.accept(
            fixture.accessGroup, in: fixture.home, with: .identity(friend), fingerprint: preview.fingerprint)
        #expect(try accepted.value("s", "person") == [1])
        try fixture.forget()
        #expect(throws: Never.self) { try fixture.open(with: .identity(friend)) }
    }

    @Test func anUnattendedRecipientNeedsNoAcceptance() throws {
        let service = try Identity.random()
        try sandbox.create().addSlot(.recipient(service.recipient, unattended: true))
        try fixture.forget()
        #expect(try fixture.open(with: .identity(service)).value("s", "service") == [2])
    }

    /// A rekey reseals to public keys as well. A holder who has never trusted a person's key cannot distinguish it from
    /// a forgery.
    @Test func aResealedSlotWithoutAMemoryIsNotAccepted() throws {
        // The key file's slot is from a time without persons, so it has no memory code.
        try fixture.create().addSlot(.recipient(sandbox.identity.recipient))
        try fixture.accept(credential).rekey(RekeyOptions(keeping: [1]))
        let copy = try fixture.copy()
        try fixture.forget()
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .notAccepted)
        #expect(try fixture.copy().files == copy.files)
        try fixture.accept(.defaultKeyFile)
        try fixture.forget()
        #expect(throws: Never.self) { try fixture.open() }
    }
}
