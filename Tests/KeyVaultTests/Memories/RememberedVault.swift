import Sealing
import Testing

@testable import KeyVault

/// A vault with a person and a service, and this user's memory of it.
struct RememberedVault {
    let fixture: VaultFixture
    let identity: Identity

    init() throws {
        fixture = try VaultFixture()
        identity = try .random()
    }

    var credential: VaultCredential { .identity(identity) }

    /// Creates the vault with a person, a service, and an item of each class.
    func create() throws -> Vault {
        let vault = try Vault.create(
            fixture.accessGroup, in: fixture.home, slots: [.recipient(identity.recipient), .defaultKeyFile],
            openingWith: credential)
        try vault.add("s", "person", .whenUnlocked, [1])
        try vault.add("s", "service", .afterFirstUnlock, [2])
        return vault
    }

    func memory() throws -> PlaceMemory { try #require(try fixture.place.memory.load()) }
}
