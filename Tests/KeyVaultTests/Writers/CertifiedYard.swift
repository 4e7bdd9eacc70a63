import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// A vault with two persons and a service that a team key has certified.
struct CertifiedYard {
    let yard: RekeyYard
    let team: TeamKey
    var fixture: VaultFixture { yard.fixture }

    init(isCertified: Bool = true) throws {
        yard = try RekeyYard()
        team = try .random()
        if isCertified { try certify(by: team) }
    }

    @discardableResult
    func certify(
        by team: TeamKey, with credential: VaultCredential? = nil, fingerprint: String? = nil,
        replacing lostKey: TeamPublicKey? = nil
    ) throws(VaultError) -> Vault {
        try Vault.certify(
            fixture.accessGroup, in: fixture.home, by: team, with: credential ?? .identity(yard.ada),
            fingerprint: fingerprint, replacing: lostKey)
    }

    func open(_ credential: VaultCredential? = nil, stating key: TeamPublicKey? = nil) throws(VaultError) -> Vault {
        try fixture.open(with: credential ?? .identity(yard.ada), options: VaultOptions(teamKey: key))
    }

    /// The codes with which a person and the service are refused; nil for one who opens.
    func refusals(stating key: TeamPublicKey? = nil) -> [VaultError.Code?] {
        [.identity(yard.ada), .defaultKeyFile].map { credential in
            code { () throws(VaultError) in _ = try open(credential, stating: key) }
        }
    }

    func register() throws -> Register {
        let directory = try #require(try fixture.place.openDirectory())
        return try #require(try CompartmentFile.open(.person, in: directory)?.head.register)
    }

    /// What Bob, who is removed later, makes of a copy of the files elsewhere.
    func copyElsewhere(_ body: (_ bob: Vault) throws -> Void) throws -> VaultFixture.Copy {
        let elsewhere = try VaultFixture()
        try elsewhere.directory.directory("Vaults")
        try elsewhere.directory.directory("Vaults/\(elsewhere.accessGroup)")
        try elsewhere.restore(try fixture.copy())
        try body(try elsewhere.accept(.identity(yard.bob)))
        return try elsewhere.copy()
    }

    /// A rekey by Bob, who is removed later: another person key, on a copy of the files elsewhere.
    ///
    /// - Parameter forge: Changes the draft, first before the rekey and then after it.
    func forgedRekey(_ forge: (_ draft: inout VaultDraft, _ isRekeyed: Bool) throws -> Void) throws -> VaultFixture.Copy
    {
        let elsewhere = try VaultFixture()
        try elsewhere.directory.directory("Vaults")
        try elsewhere.directory.directory("Vaults/\(elsewhere.accessGroup)")
        try elsewhere.restore(try fixture.copy())
        let bob = try elsewhere.accept(.identity(yard.bob))
        let contents = try bob.current()
        try elsewhere.forgetPlaces()
        var draft = try bob.keys.withPerson { root throws(VaultError) in
            try VaultDraft(
                contents, root: bob.keys.service, person: (root, try contents.person(root, place: bob.place)),
                slotID: 1, place: bob.place)
        }
        try forge(&draft, false)
        let plan = try RekeyPlan(draft, RekeyOptions(renewsPersons: true))
        try plan.begin(&draft)
        try forge(&draft, true)
        var copy = VaultFixture.Copy(files: ["vault.person": try draft.file(.person)])
        try plan.finish(&draft) { draft, role throws(VaultError) in copy.files[role.leaf] = try draft.file(role) }
        return copy
    }

    /// A group's container with a roster.
    func put(_ roster: SignedRoster) throws {
        try RosterFile.put(roster, in: try container(), home: fixture.home)
    }

    func container() throws -> GroupContainer { try GroupContainer.open(fixture.group, in: fixture.home) }

    func roster(_ version: UInt64, _ change: (inout Roster) throws -> Void = { _ in }) throws -> Roster {
        var roster = Roster(
            group: fixture.group.identifier, id: [UInt8](repeating: 7, count: 16).withRawBytes { Bytes16($0) },
            version: version, signedAt: 1, team: team.publicKey)
        try change(&roster)
        return roster
    }

    /// A user who has accepted no roster.
    func forgetRosters() {
        unlink(fixture.directory.path("Rosters/\(fixture.group.identifier).roster"))
    }
}

/// A directory that is mounted read-only over itself, where the tests may mount one.
final class ReadOnlyMount {
    private let path: String

    static let isPossible: Bool = {
        guard geteuid() == 0, let place = try? TemporaryDirectory(), let mounted = try? ReadOnlyMount(place.path) else {
            return false
        }
        return withExtendedLifetime(mounted) { true }
    }()

    init(_ path: String) throws {
        self.path = path
        guard mount(path, path, nil, UInt(MS_BIND), nil) == 0 else { throw SystemFailure("mount") }
        guard mount(nil, path, nil, UInt(MS_BIND | MS_REMOUNT | MS_RDONLY), nil) == 0 else {
            umount2(path, Int32(MNT_DETACH))
            throw SystemFailure("mount")
        }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }
}
