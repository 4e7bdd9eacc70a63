import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// A vault with two persons and a service, certified by a team key.
struct CertifiedSandbox {
    let sandbox: RekeySandbox
    let team: TeamKey
    var fixture: VaultFixture { sandbox.fixture }

    init(isCertified: Bool = true) throws {
        sandbox = try RekeySandbox()
        team = try .random()
        if isCertified { try certify(by: team) }
    }

    @discardableResult
    func certify(
        by team: TeamKey, with credential: VaultCredential? = nil, fingerprint: String? = nil,
        replacing lostKey: TeamPublicKey? = nil
    ) throws(VaultError) -> Vault {
        try Vault.certify(
            fixture.accessGroup, in: fixture.home, by: team, with: credential ?? .identity(sandbox.ada),
            fingerprint: fingerprint, replacing: lostKey)
    }

    func open(_ credential: VaultCredential? = nil, stating key: TeamPublicKey? = nil) throws(VaultError) -> Vault {
        try fixture.open(with: credential ?? .identity(sandbox.ada), options: VaultOptions(teamKey: key))
    }

    /// Returns the codes with which a person and the service are refused, `nil` for each that opens.
    func refusals(stating key: TeamPublicKey? = nil) -> [VaultError.Code?] {
        [.identity(sandbox.ada), .defaultKeyFile].map { credential in
            code { () throws(VaultError) in _ = try open(credential, stating: key) }
        }
    }

    func register() throws -> Register {
        let directory = try #require(try fixture.place.openDirectory())
        return try #require(try CompartmentFile.open(.person, in: directory)?.head.register)
    }

    /// Returns the files that Bob, who is removed later, writes to a copy elsewhere.
    func copyElsewhere(_ body: (_ bob: Vault) throws -> Void) throws -> VaultFixture.Copy {
        let elsewhere = try VaultFixture()
        try elsewhere.directory.directory("Vaults")
        try elsewhere.directory.directory("Vaults/\(elsewhere.accessGroup)")
        try elsewhere.restore(try fixture.copy())
        try body(try elsewhere.accept(.identity(sandbox.bob)))
        return try elsewhere.copy()
    }

    /// Returns the files of a rekey by Bob, who is removed later, with another person key, on a copy elsewhere.
    ///
    /// - Parameter forge: Changes the draft, first before the rekey and then after it.
    func forgedRekey(_ forge: (_ draft: inout VaultDraft, _ isRekeyed: Bool) throws -> Void) throws -> VaultFixture.Copy
    {
        let elsewhere = try VaultFixture()
        try elsewhere.directory.directory("Vaults")
        try elsewhere.directory.directory("Vaults/\(elsewhere.accessGroup)")
        try elsewhere.restore(try fixture.copy())
        let bob = try elsewhere.accept(.identity(sandbox.bob))
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

    /// Stores a roster in a group's container.
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

    /// Removes the accepted rosters, as for a user who has accepted none.
    func forgetRosters() {
        unlink(fixture.directory.path("Rosters/\(fixture.group.identifier).roster"))
    }
}

/// A directory that is mounted read-only over itself, on machines that allow a mount.
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
