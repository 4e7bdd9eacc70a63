import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Tests that the team key determines the valid person keys.
@Suite struct TeamCertificateTests {
    // MARK: Certifying

    @Test func certifyingNamesTheTeamKeyAndEveryUserRemembersIt() throws {
        let sandbox = try CertifiedSandbox(isCertified: false)
        let before = try #require(try sandbox.open().fingerprint)
        let vault = try sandbox.certify(by: sandbox.team, fingerprint: before.uppercased())
        #expect(vault.teamKey == sandbox.team.publicKey && vault.fingerprint != before && vault.period == 1)
        for credential in [VaultCredential.identity(sandbox.sandbox.bob), .defaultKeyFile] {
            #expect(try sandbox.open(credential).teamKey == sandbox.team.publicKey)
        }
        #expect(try #require(try sandbox.fixture.place.memory.load()).team == sandbox.team.publicKey)
        try sandbox.sandbox.expectAllItems(try sandbox.open(), isPersons: true)
        let files = try sandbox.fixture.copy().files
        #expect(code { () throws(VaultError) in try sandbox.certify(by: sandbox.team) } == .alreadyExists)
        let other = try TeamKey.random()
        #expect(code { () throws(VaultError) in try sandbox.certify(by: other) } == .wrongTeamKey)
        #expect(try sandbox.fixture.copy().files == files)
    }

    @Test func onlyAPersonCertifiesAndOnlyWhatWasCompared() throws {
        let sandbox = try CertifiedSandbox(isCertified: false)
        let files = try sandbox.fixture.copy().files
        #expect(
            code { () throws(VaultError) in try sandbox.certify(by: sandbox.team, with: .defaultKeyFile) } == .locked)
        let other = String(repeating: "0", count: 32)
        #expect(
            code { () throws(VaultError) in try sandbox.certify(by: sandbox.team, fingerprint: other) } == .replaced)
        #expect(try sandbox.fixture.copy().files == files)
        let alone = try VaultFixture()
        try alone.create()
        let refused = code { () throws(VaultError) in
            try Vault.certify(alone.accessGroup, in: alone.home, by: sandbox.team, with: .defaultKeyFile)
        }
        #expect(refused == .locked)
    }

    /// From the next opening on, a holder recognises the vault by the team key, even without the memory of the place.
    @Test func holdersRecogniseTheVaultByTheTeamKeyAfterwards() throws {
        let sandbox = try CertifiedSandbox()
        for identity in [sandbox.sandbox.ada, sandbox.sandbox.bob] {
            let slot = try #require(try sandbox.open(.identity(identity)).keys.slot)
            let written = try #require(
                try sandbox.open(.identity(identity)).current().slots.first { $0.id == slot.slot.id })
            let key = sandbox.team.publicKey.key.bytes
            let vaultID = try sandbox.register().vaultID
            #expect(written.isRecognised(by: slot.holder, [key], vaultID: vaultID))
        }
        try sandbox.fixture.forget()
        #expect(sandbox.refusals() == [nil, nil])
    }

    // MARK: Changes that make a person key

    @Test func removingAPersonNeedsTheTeamKey() throws {
        let sandbox = try CertifiedSandbox()
        let ada = try sandbox.open()
        let files = try sandbox.fixture.copy().files
        let slot = sandbox.sandbox.bobSlot
        #expect(code { () throws(VaultError) in try ada.removeSlot(id: slot) } == .teamKeyNeeded)
        let renewing = RekeyOptions(renewsPersons: true)
        #expect(code { () throws(VaultError) in try ada.rekey(renewing) } == .teamKeyNeeded)
        let other = try TeamKey.random()
        #expect(code { () throws(VaultError) in try ada.removeSlot(id: slot, certifiedBy: other) } == .wrongTeamKey)
        #expect(try sandbox.fixture.copy().files == files)
        let service = try sandbox.open(.defaultKeyFile)
        try ada.removeSlot(id: slot, certifiedBy: sandbox.team)
        try sandbox.sandbox.expectAllItems(service, isPersons: false)
        #expect(sandbox.refusals(stating: sandbox.team.publicKey) == [nil, nil])
        #expect(
            code { () throws(VaultError) in _ = try sandbox.open(.identity(sandbox.sandbox.bob)) } == .wrongIdentity)
        #expect(try sandbox.open().fingerprint == ada.fingerprint)
    }

    @Test func removingAServiceDoesNotNeedIt() throws {
        let sandbox = try CertifiedSandbox()
        let ada = try sandbox.open()
        try ada.removeSlot(id: sandbox.sandbox.serviceSlot)
        #expect(try sandbox.open(stating: sandbox.team.publicKey).period == 2)
        #expect(ada.teamKey == sandbox.team.publicKey)
    }

    @Test func theFirstPersonsSlotNeedsAKnownTeamKey() throws {
        let (fixture, team, identity) = (try VaultFixture(), try TeamKey.random(), try Identity.random())
        try fixture.create()
        // A vault without persons belongs to the services alone, so the team key has no effect.
        let service = try fixture.open(options: VaultOptions(teamKey: team.publicKey))
        let slot = NewSlot.identity(identity)
        let files = try fixture.copy().files
        #expect(code { () throws(VaultError) in try service.addSlot(slot) } == .teamKeyNeeded)
        #expect(code { () throws(VaultError) in try service.replaceSlot(id: 1, with: slot) } == .teamKeyNeeded)
        #expect(try fixture.copy().files == files)
        try service.addSlot(slot, certifiedBy: team)
        let options = VaultOptions(teamKey: team.publicKey)
        #expect(try fixture.open(with: .identity(identity), options: options).teamKey == team.publicKey)
        #expect(service.teamKey == team.publicKey)
    }

    @Test func aNewVaultWithPersonsNeedsAKnownTeamKey() throws {
        let (fixture, team, identity) = (try VaultFixture(), try TeamKey.random(), try Identity.random())
        let options = VaultOptions(teamKey: team.publicKey)
        func create(_ team: TeamKey?) throws(VaultError) -> Vault {
            try Vault.create(
                fixture.accessGroup, in: fixture.home, slots: [.identity(identity), .defaultKeyFile],
                openingWith: .identity(identity), certifiedBy: team, options: options)
        }
        #expect(code { () throws(VaultError) in _ = try create(nil) } == .teamKeyNeeded)
        #expect(!SystemFile.exists(fixture.path) && !SystemFile.exists(fixture.personPath))
        #expect(!SystemFile.exists(fixture.keyFile))
        #expect(try create(team).teamKey == team.publicKey)
        try fixture.forget()
        #expect(throws: Never.self) { try fixture.open(with: .identity(identity), options: options) }
    }

    @Test func restoringABackupNeedsTheTeamKey() throws {
        let sandbox = try CertifiedSandbox()
        let path = sandbox.fixture.directory.path("backup")
        let phrase = try Array("backup words".utf8).withUnsafeBytes { try Passphrase(copying: $0) }
        _ = try sandbox.open().export(to: path, for: [.passphrase(phrase, .minimum)])
        let files = try sandbox.fixture.copy().files
        func restore(_ team: TeamKey?) throws(VaultError) {
            _ = try Vault.import(
                from: path, opening: .passphrase(phrase), sandbox.fixture.accessGroup, in: sandbox.fixture.home,
                slots: [.identity(sandbox.sandbox.ada), .defaultKeyFile],
                importing: ImportOptions(setsVaultAside: true),
                certifiedBy: team)
        }
        #expect(code { () throws(VaultError) in try restore(nil) } == .teamKeyNeeded)
        let other = try TeamKey.random()
        #expect(code { () throws(VaultError) in try restore(other) } == .wrongTeamKey)
        #expect(try sandbox.fixture.copy().files == files)
        // The user has no memory of the vault, and the backup names the team key.
        try sandbox.fixture.forget()
        #expect(code { () throws(VaultError) in try restore(nil) } == .teamKeyNeeded)
        try restore(sandbox.team)
        #expect(sandbox.refusals(stating: sandbox.team.publicKey) == [nil, nil])
    }

    // MARK: A former person

    enum Forgery: CaseIterable, Sendable { case withoutTeamKey, withItsName, ownTeamKey, stolenCertificate }

    private func forged(_ forgery: Forgery, _ sandbox: CertifiedSandbox) throws -> VaultFixture.Copy {
        let certificate = try #require(try sandbox.register().chain.last?.certificate)
        let own = try TeamKey.random()
        return try sandbox.forgedRekey { draft, isRekeyed in
            guard isRekeyed else {
                draft.register.teamKey = nil
                if forgery == .ownTeamKey { draft.certifier = own }
                return
            }
            if forgery == .withItsName || forgery == .stolenCertificate {
                draft.register.teamKey = sandbox.team.publicKey.key.bytes
            }
            if forgery == .stolenCertificate {
                draft.register.chain[draft.register.chain.endIndex - 1].certificate = certificate
            }
        }
    }

    /// Without a team key, a reader who has not seen the real rekey would accept it.
    @Test(arguments: Forgery.allCases) func aRekeyOfAFormerPersonCountsForNothing(_ forgery: Forgery) throws {
        let sandbox = try CertifiedSandbox()
        let running = try sandbox.open(.defaultKeyFile)
        let forged = try forged(forgery, sandbox)
        let honest = try sandbox.fixture.copy()
        try sandbox.fixture.restore(forged)
        #expect(sandbox.refusals() == [.replaced, .replaced])
        #expect(code { () throws(VaultError) in _ = try running.value("small", "service") } == .replaced)
        #expect(try sandbox.fixture.copy().files == forged.files)
        // This also holds for a user who has seen the real one.
        try sandbox.fixture.restore(honest)
        try sandbox.open().removeSlot(id: sandbox.sandbox.bobSlot, certifiedBy: sandbox.team)
        #expect(sandbox.refusals() == [nil, nil])
        try sandbox.fixture.restore(forged)
        for refusal in sandbox.refusals() { #expect([.forked, .replaced].contains(refusal)) }
        // It also holds for a new user whose program states the key.
        try sandbox.fixture.forget()
        #expect(sandbox.refusals(stating: sandbox.team.publicKey) == [.replaced, .replaced])
    }

    /// The holder's memory code covers the team key. A chain without it is not the vault that the holder trusted.
    @Test func withAMemoryCodeAloneAStrippedTeamKeyIsNotAccepted() throws {
        let sandbox = try CertifiedSandbox()
        _ = try sandbox.open()
        let forged = try forged(.withoutTeamKey, sandbox)
        try sandbox.fixture.forget()
        try sandbox.fixture.restore(forged)
        #expect(sandbox.refusals().first == .notAccepted)
    }

    // MARK: Sources of the key

    @Test func eachSourceAloneRefusesAVaultThatIsNotCertified() throws {
        let sandbox = try CertifiedSandbox(isCertified: false)
        #expect(sandbox.refusals() == [nil, nil])
        #expect(sandbox.refusals(stating: sandbox.team.publicKey) == [.replaced, .replaced])
        try stating(sandbox.team.publicKey, sandbox) { #expect(sandbox.refusals() == [.replaced, .replaced]) }
        try RosterMemory(of: sandbox.fixture.group, in: sandbox.fixture.home)
            .overwrite(.init(teamKey: sandbox.team.publicKey, roster: nil))
        #expect(sandbox.refusals() == [.replaced, .replaced])
        // This also holds for a running program, after the vault changes.
        #expect(throws: Never.self) { try sandbox.certify(by: sandbox.team) }
        #expect(sandbox.refusals(stating: sandbox.team.publicKey) == [nil, nil])
        try stating(sandbox.team.publicKey, sandbox) { #expect(sandbox.refusals() == [nil, nil]) }
    }

    @Test func sourcesThatDisagreeAreRefused() throws {
        let sandbox = try CertifiedSandbox()
        let other = try TeamKey.random().publicKey
        #expect(sandbox.refusals(stating: other) == [.wrongTeamKey, .wrongTeamKey])
        try stating(other, sandbox) { #expect(sandbox.refusals() == [.wrongTeamKey, .wrongTeamKey]) }
        try RosterMemory(of: sandbox.fixture.group, in: sandbox.fixture.home).overwrite(
            .init(teamKey: other, roster: nil))
        #expect(sandbox.refusals() == [.wrongTeamKey, .wrongTeamKey])
        #expect(
            code { () throws(VaultError) in try sandbox.fixture.accept(.identity(sandbox.sandbox.ada)) } == .replaced)
    }

    /// Runs a body while the machine's settings state a key.
    private func stating(_ key: TeamPublicKey, _ sandbox: CertifiedSandbox, _ body: () throws -> Void) throws {
        let settings = TeamKeySettings(directory: sandbox.fixture.directory.path("etc"))
        if !SystemFile.exists(settings.directory) { try sandbox.fixture.directory.directory("etc") }
        let path = settings.path(of: sandbox.fixture.accessGroup)
        try SystemFile.write(path, Array("\(key)\n".utf8))
        chmod(path, 0o644)
        try TeamKeySettings.$current.withValue(settings, operation: body)
    }

    // MARK: Succession

    @Test func theSuccessorOfTheTeamKeyIsFollowed() throws {
        let sandbox = try CertifiedSandbox()
        let next = try TeamKey.random()
        _ = try sandbox.open()
        let first = try SignedRoster(signing: try sandbox.roster(1), with: sandbox.team)
        try sandbox.put(first)
        let succeeded = try sandbox.roster(1).succeeded(by: next.publicKey, naming: sandbox.team)
        var second = succeeded
        second.version = 2
        try sandbox.put(try SignedRoster(signing: second, with: next))
        // Until it is certified again, the former key certifies the persons who were accepted before, and no new ones.
        #expect(sandbox.refusals() == [nil, nil])
        let ada = try sandbox.open()
        let renewing = RekeyOptions(renewsPersons: true)
        #expect(code { () throws(VaultError) in try ada.rekey(renewing, certifiedBy: sandbox.team) } == .wrongTeamKey)
        let stolen = try sandbox.forgedRekey { draft, isRekeyed in if !isRekeyed { draft.certifier = sandbox.team } }
        let honest = try sandbox.fixture.copy()
        try sandbox.fixture.restore(stolen)
        #expect(sandbox.refusals() == [.replaced, .replaced])
        try sandbox.fixture.restore(honest)
        try sandbox.certify(by: next)
        #expect(sandbox.refusals() == [nil, nil] && sandbox.refusals(stating: sandbox.team.publicKey) == [nil, nil])
        #expect(sandbox.refusals(stating: next.publicKey) == [nil, nil])
        #expect(try sandbox.register().team == next.publicKey)
        #expect(code { () throws(VaultError) in try sandbox.certify(by: sandbox.team) } != nil)
    }

    /// A reader who only knows the former key finds the succession in the container.
    @Test func aReaderOfTheFormerKeyFindsTheSuccessionInTheContainer() throws {
        let sandbox = try CertifiedSandbox()
        let next = try TeamKey.random()
        let running = try sandbox.open(.defaultKeyFile)
        let memory = try #require(try sandbox.fixture.place.memory.load())
        var second = try sandbox.roster(1).succeeded(by: next.publicKey, naming: sandbox.team)
        second.version = 2
        try sandbox.put(try SignedRoster(signing: second, with: next))
        try sandbox.certify(by: next)
        sandbox.forgetRosters()
        sandbox.fixture.place.memory.store(memory, isAccepted: true)
        try sandbox.sandbox.expectAllItems(running, isPersons: false)
        sandbox.forgetRosters()
        #expect(sandbox.refusals() == [nil, nil])
        // Without the roster nothing shows that the other key is the successor.
        sandbox.forgetRosters()
        sandbox.fixture.place.memory.store(memory, isAccepted: true)
        unlink("\(try sandbox.container().path)/.sealedstate.roster")
        #expect(sandbox.refusals() == [.replaced, .replaced])
    }

    // MARK: The lowest period

    @Test func aVaultBelowTheLowestPeriodIsRolledBack() throws {
        let sandbox = try CertifiedSandbox()
        let before = try sandbox.fixture.copy()
        try sandbox.open().removeSlot(id: sandbox.sandbox.bobSlot, certifiedBy: sandbox.team)
        #expect(sandbox.fixture.place.certification?.state == VaultFloor(period: 2, keyPeriod: 2))
        try sandbox.put(
            try SignedRoster(signing: try sandbox.roster(1) { $0.floor = VaultFloor(period: 2) }, with: sandbox.team))
        #expect(sandbox.refusals() == [nil, nil])
        // The users are one who has never seen the vault, and one who accepts any vault.
        try sandbox.fixture.restore(before)
        try sandbox.fixture.forget()
        #expect(sandbox.refusals() == [.rolledBack, .rolledBack])
        #expect(
            code { () throws(VaultError) in try sandbox.fixture.accept(.identity(sandbox.sandbox.ada)) } == .rolledBack)
        sandbox.forgetRosters()
        #expect(sandbox.refusals(stating: sandbox.team.publicKey) == [.rolledBack, .rolledBack])
    }

    /// A former person continues an old copy: it has later periods under the known person key, with its certificate.
    @Test func aVaultContinuedFromAnOldCopyIsRolledBack() throws {
        let sandbox = try CertifiedSandbox()
        let continued = try sandbox.copyElsewhere { bob in for _ in 1...2 { _ = try bob.rekey() } }
        try sandbox.open().removeSlot(id: sandbox.sandbox.bobSlot, certifiedBy: sandbox.team)
        let honest = try sandbox.fixture.copy()
        let state = try #require(sandbox.fixture.place.certification?.state)
        #expect(state == VaultFloor(period: 2, keyPeriod: 2))
        // A user who has seen neither the removal nor a roster cannot distinguish it from the true vault.
        try sandbox.fixture.restore(continued)
        try sandbox.fixture.forget()
        #expect(
            try sandbox.refusals(stating: sandbox.team.publicKey) == [nil, nil]
                && sandbox.fixture.place.memory.load()?.period == 3)
        try sandbox.fixture.restore(honest)
        try sandbox.fixture.forget()
        #expect(sandbox.refusals() == [nil, nil])
        try sandbox.put(try SignedRoster(signing: try sandbox.roster(1) { $0.floor = state }, with: sandbox.team))
        #expect(sandbox.refusals() == [nil, nil])
        try sandbox.fixture.restore(continued)
        try sandbox.fixture.forget()
        #expect(sandbox.refusals() == [.rolledBack, .rolledBack])
        sandbox.forgetRosters()
        #expect(sandbox.refusals(stating: sandbox.team.publicKey) == [.rolledBack, .rolledBack])
    }

    // MARK: A lost team key

    /// A person names the lost key and its successor. No other user follows without a decision.
    @Test func aPersonReplacesALostTeamKey() throws {
        let sandbox = try CertifiedSandbox()
        let (lost, next, other) = (sandbox.team.publicKey, try TeamKey.random(), try TeamKey.random().publicKey)
        let files = try sandbox.fixture.copy().files
        #expect(code { () throws(VaultError) in try sandbox.certify(by: next) } == .wrongTeamKey)
        #expect(code { () throws(VaultError) in try sandbox.certify(by: next, replacing: other) } == .wrongTeamKey)
        // The machine's settings must be changed first.
        try stating(lost, sandbox) {
            #expect(code { () throws(VaultError) in try sandbox.certify(by: next, replacing: lost) } == .wrongTeamKey)
        }
        #expect(try sandbox.fixture.copy().files == files)
        let memory = try #require(try sandbox.fixture.place.memory.load())
        #expect(try sandbox.certify(by: next, replacing: lost).teamKey == next.publicKey)
        #expect(sandbox.refusals() == [nil, nil])
        try sandbox.open().removeSlot(id: sandbox.sandbox.bobSlot, certifiedBy: next)
        // The other user has seen the lost key.
        sandbox.fixture.place.memory.store(memory, isAccepted: true)
        #expect(sandbox.refusals() == [.replaced, .replaced])
        try sandbox.fixture.accept(.identity(sandbox.sandbox.ada))
        #expect(sandbox.refusals() == [nil, nil])
    }

    @Test func aLostKeysRosterIsReplacedFirst() throws {
        let sandbox = try CertifiedSandbox()
        let (lost, next) = (sandbox.team.publicKey, try TeamKey.random())
        try sandbox.put(try SignedRoster(signing: try sandbox.roster(3), with: sandbox.team))
        _ = try sandbox.open()
        #expect(code { () throws(VaultError) in try sandbox.certify(by: next, replacing: lost) } == .noRoster)
        var fresh = try sandbox.roster(1)
        fresh.team = next.publicKey
        let signed = try SignedRoster(signing: fresh, with: next)
        try RosterFile.put(signed, in: try sandbox.container(), home: sandbox.fixture.home, isAnew: true)
        #expect(try sandbox.certify(by: next, replacing: lost).teamKey == next.publicKey)
        #expect(sandbox.refusals() == [nil, nil])
    }
}
