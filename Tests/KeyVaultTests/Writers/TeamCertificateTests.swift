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

    @Test func certifyingNamesTheTeamKeyAndEverybodyRemembersIt() throws {
        let yard = try CertifiedYard(isCertified: false)
        let before = try #require(try yard.open().fingerprint)
        let vault = try yard.certify(by: yard.team, fingerprint: before.uppercased())
        #expect(vault.teamKey == yard.team.publicKey && vault.fingerprint != before && vault.period == 1)
        for credential in [VaultCredential.identity(yard.yard.bob), .defaultKeyFile] {
            #expect(try yard.open(credential).teamKey == yard.team.publicKey)
        }
        #expect(try #require(try yard.fixture.place.memory.load()).team == yard.team.publicKey)
        try yard.yard.expectAllItems(try yard.open(), isPersons: true)
        let files = try yard.fixture.copy().files
        #expect(code { () throws(VaultError) in try yard.certify(by: yard.team) } == .alreadyExists)
        let other = try TeamKey.random()
        #expect(code { () throws(VaultError) in try yard.certify(by: other) } == .wrongTeamKey)
        #expect(try yard.fixture.copy().files == files)
    }

    @Test func onlyAPersonCertifiesAndOnlyWhatWasCompared() throws {
        let yard = try CertifiedYard(isCertified: false)
        let files = try yard.fixture.copy().files
        #expect(code { () throws(VaultError) in try yard.certify(by: yard.team, with: .defaultKeyFile) } == .locked)
        let other = String(repeating: "0", count: 32)
        #expect(code { () throws(VaultError) in try yard.certify(by: yard.team, fingerprint: other) } == .replaced)
        #expect(try yard.fixture.copy().files == files)
        let alone = try VaultFixture()
        try alone.create()
        let refused = code { () throws(VaultError) in
            try Vault.certify(alone.accessGroup, in: alone.home, by: yard.team, with: .defaultKeyFile)
        }
        #expect(refused == .locked)
    }

    /// From the next opening on, a holder recognises the vault by the team key, even without the memory of the place.
    @Test func holdersRecogniseTheVaultByTheTeamKeyAfterwards() throws {
        let yard = try CertifiedYard()
        for identity in [yard.yard.ada, yard.yard.bob] {
            let slot = try #require(try yard.open(.identity(identity)).keys.slot)
            let written = try #require(
                try yard.open(.identity(identity)).current().slots.first { $0.id == slot.slot.id })
            let key = yard.team.publicKey.key.bytes
            let vaultID = try yard.register().vaultID
            #expect(written.isRecognised(by: slot.holder, [key], vaultID: vaultID))
        }
        try yard.fixture.forget()
        #expect(yard.refusals() == [nil, nil])
    }

    // MARK: Changes that make a person key

    @Test func removingAPersonNeedsTheTeamKey() throws {
        let yard = try CertifiedYard()
        let ada = try yard.open()
        let files = try yard.fixture.copy().files
        let slot = yard.yard.bobSlot
        #expect(code { () throws(VaultError) in try ada.removeSlot(id: slot) } == .teamKeyNeeded)
        let renewing = RekeyOptions(renewsPersons: true)
        #expect(code { () throws(VaultError) in try ada.rekey(renewing) } == .teamKeyNeeded)
        let other = try TeamKey.random()
        #expect(code { () throws(VaultError) in try ada.removeSlot(id: slot, certifiedBy: other) } == .wrongTeamKey)
        #expect(try yard.fixture.copy().files == files)
        let service = try yard.open(.defaultKeyFile)
        try ada.removeSlot(id: slot, certifiedBy: yard.team)
        try yard.yard.expectAllItems(service, isPersons: false)
        #expect(yard.refusals(stating: yard.team.publicKey) == [nil, nil])
        #expect(code { () throws(VaultError) in _ = try yard.open(.identity(yard.yard.bob)) } == .wrongIdentity)
        #expect(try yard.open().fingerprint == ada.fingerprint)
    }

    @Test func removingAServiceDoesNotNeedIt() throws {
        let yard = try CertifiedYard()
        let ada = try yard.open()
        try ada.removeSlot(id: yard.yard.serviceSlot)
        #expect(try yard.open(stating: yard.team.publicKey).period == 2)
        #expect(ada.teamKey == yard.team.publicKey)
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
        let yard = try CertifiedYard()
        let path = yard.fixture.directory.path("backup")
        let phrase = try Array("backup words".utf8).withUnsafeBytes { try Passphrase(copying: $0) }
        _ = try yard.open().export(to: path, for: [.passphrase(phrase, .minimum)])
        let files = try yard.fixture.copy().files
        func restore(_ team: TeamKey?) throws(VaultError) {
            _ = try Vault.import(
                from: path, opening: .passphrase(phrase), yard.fixture.accessGroup, in: yard.fixture.home,
                slots: [.identity(yard.yard.ada), .defaultKeyFile], importing: ImportOptions(setsVaultAside: true),
                certifiedBy: team)
        }
        #expect(code { () throws(VaultError) in try restore(nil) } == .teamKeyNeeded)
        let other = try TeamKey.random()
        #expect(code { () throws(VaultError) in try restore(other) } == .wrongTeamKey)
        #expect(try yard.fixture.copy().files == files)
        // The user has no memory of the vault, and the backup names the team key.
        try yard.fixture.forget()
        #expect(code { () throws(VaultError) in try restore(nil) } == .teamKeyNeeded)
        try restore(yard.team)
        #expect(yard.refusals(stating: yard.team.publicKey) == [nil, nil])
    }

    // MARK: A former person

    enum Forgery: CaseIterable, Sendable { case withoutTeamKey, withItsName, ownTeamKey, stolenCertificate }

    private func forged(_ forgery: Forgery, _ yard: CertifiedYard) throws -> VaultFixture.Copy {
        let certificate = try #require(try yard.register().chain.last?.certificate)
        let own = try TeamKey.random()
        return try yard.forgedRekey { draft, isRekeyed in
            guard isRekeyed else {
                draft.register.teamKey = nil
                if forgery == .ownTeamKey { draft.certifier = own }
                return
            }
            if forgery == .withItsName || forgery == .stolenCertificate {
                draft.register.teamKey = yard.team.publicKey.key.bytes
            }
            if forgery == .stolenCertificate {
                draft.register.chain[draft.register.chain.endIndex - 1].certificate = certificate
            }
        }
    }

    /// Without a team key, a reader who has not seen the real rekey would accept it.
    @Test(arguments: Forgery.allCases) func aRekeyOfAFormerPersonCountsForNothing(_ forgery: Forgery) throws {
        let yard = try CertifiedYard()
        let running = try yard.open(.defaultKeyFile)
        let forged = try forged(forgery, yard)
        let honest = try yard.fixture.copy()
        try yard.fixture.restore(forged)
        #expect(yard.refusals() == [.replaced, .replaced])
        #expect(code { () throws(VaultError) in _ = try running.value("small", "service") } == .replaced)
        #expect(try yard.fixture.copy().files == forged.files)
        // This also holds for a user who has seen the real one.
        try yard.fixture.restore(honest)
        try yard.open().removeSlot(id: yard.yard.bobSlot, certifiedBy: yard.team)
        #expect(yard.refusals() == [nil, nil])
        try yard.fixture.restore(forged)
        for refusal in yard.refusals() { #expect([.forked, .replaced].contains(refusal)) }
        // It also holds for a new user whose program states the key.
        try yard.fixture.forget()
        #expect(yard.refusals(stating: yard.team.publicKey) == [.replaced, .replaced])
    }

    /// The holder's memory code covers the team key. A chain without it is not the vault that the holder trusted.
    @Test func withAMemoryCodeAloneAStrippedTeamKeyIsNotAccepted() throws {
        let yard = try CertifiedYard()
        _ = try yard.open()
        let forged = try forged(.withoutTeamKey, yard)
        try yard.fixture.forget()
        try yard.fixture.restore(forged)
        #expect(yard.refusals().first == .notAccepted)
    }

    // MARK: Sources of the key

    @Test func eachSourceAloneRefusesAVaultThatIsNotCertified() throws {
        let yard = try CertifiedYard(isCertified: false)
        #expect(yard.refusals() == [nil, nil])
        #expect(yard.refusals(stating: yard.team.publicKey) == [.replaced, .replaced])
        try stating(yard.team.publicKey, yard) { #expect(yard.refusals() == [.replaced, .replaced]) }
        try RosterMemory(of: yard.fixture.group, in: yard.fixture.home)
            .overwrite(.init(teamKey: yard.team.publicKey, roster: nil))
        #expect(yard.refusals() == [.replaced, .replaced])
        // This also holds for a running program, after the vault changes.
        #expect(throws: Never.self) { try yard.certify(by: yard.team) }
        #expect(yard.refusals(stating: yard.team.publicKey) == [nil, nil])
        try stating(yard.team.publicKey, yard) { #expect(yard.refusals() == [nil, nil]) }
    }

    @Test func sourcesThatDisagreeAreRefused() throws {
        let yard = try CertifiedYard()
        let other = try TeamKey.random().publicKey
        #expect(yard.refusals(stating: other) == [.wrongTeamKey, .wrongTeamKey])
        try stating(other, yard) { #expect(yard.refusals() == [.wrongTeamKey, .wrongTeamKey]) }
        try RosterMemory(of: yard.fixture.group, in: yard.fixture.home).overwrite(.init(teamKey: other, roster: nil))
        #expect(yard.refusals() == [.wrongTeamKey, .wrongTeamKey])
        #expect(code { () throws(VaultError) in try yard.fixture.accept(.identity(yard.yard.ada)) } == .replaced)
    }

    /// Runs a body while the machine's settings state a key.
    private func stating(_ key: TeamPublicKey, _ yard: CertifiedYard, _ body: () throws -> Void) throws {
        let settings = TeamKeySettings(directory: yard.fixture.directory.path("etc"))
        if !SystemFile.exists(settings.directory) { try yard.fixture.directory.directory("etc") }
        let path = settings.path(of: yard.fixture.accessGroup)
        try SystemFile.write(path, Array("\(key)\n".utf8))
        chmod(path, 0o644)
        try TeamKeySettings.$current.withValue(settings, operation: body)
    }

    // MARK: Succession

    @Test func theSuccessorOfTheTeamKeyIsFollowed() throws {
        let yard = try CertifiedYard()
        let next = try TeamKey.random()
        _ = try yard.open()
        let first = try SignedRoster(signing: try yard.roster(1), with: yard.team)
        try yard.put(first)
        let succeeded = try yard.roster(1).succeeded(by: next.publicKey, naming: yard.team)
        var second = succeeded
        second.version = 2
        try yard.put(try SignedRoster(signing: second, with: next))
        // Until it is certified again, the former key certifies the persons who were accepted before, and no new ones.
        #expect(yard.refusals() == [nil, nil])
        let ada = try yard.open()
        let renewing = RekeyOptions(renewsPersons: true)
        #expect(code { () throws(VaultError) in try ada.rekey(renewing, certifiedBy: yard.team) } == .wrongTeamKey)
        let stolen = try yard.forgedRekey { draft, isRekeyed in if !isRekeyed { draft.certifier = yard.team } }
        let honest = try yard.fixture.copy()
        try yard.fixture.restore(stolen)
        #expect(yard.refusals() == [.replaced, .replaced])
        try yard.fixture.restore(honest)
        try yard.certify(by: next)
        #expect(yard.refusals() == [nil, nil] && yard.refusals(stating: yard.team.publicKey) == [nil, nil])
        #expect(yard.refusals(stating: next.publicKey) == [nil, nil])
        #expect(try yard.register().team == next.publicKey)
        #expect(code { () throws(VaultError) in try yard.certify(by: yard.team) } != nil)
    }

    /// A reader who only knows the former key finds the succession in the container.
    @Test func aReaderOfTheFormerKeyFindsTheSuccessionInTheContainer() throws {
        let yard = try CertifiedYard()
        let next = try TeamKey.random()
        let running = try yard.open(.defaultKeyFile)
        let memory = try #require(try yard.fixture.place.memory.load())
        var second = try yard.roster(1).succeeded(by: next.publicKey, naming: yard.team)
        second.version = 2
        try yard.put(try SignedRoster(signing: second, with: next))
        try yard.certify(by: next)
        yard.forgetRosters()
        yard.fixture.place.memory.store(memory, isAccepted: true)
        try yard.yard.expectAllItems(running, isPersons: false)
        yard.forgetRosters()
        #expect(yard.refusals() == [nil, nil])
        // Without the roster nothing shows that the other key is the successor.
        yard.forgetRosters()
        yard.fixture.place.memory.store(memory, isAccepted: true)
        unlink("\(try yard.container().path)/.sealedstate.roster")
        #expect(yard.refusals() == [.replaced, .replaced])
    }

    // MARK: The lowest period

    @Test func aVaultBelowTheLowestPeriodIsRolledBack() throws {
        let yard = try CertifiedYard()
        let before = try yard.fixture.copy()
        try yard.open().removeSlot(id: yard.yard.bobSlot, certifiedBy: yard.team)
        #expect(yard.fixture.place.certification?.state == VaultFloor(period: 2, keyPeriod: 2))
        try yard.put(
            try SignedRoster(signing: try yard.roster(1) { $0.floor = VaultFloor(period: 2) }, with: yard.team))
        #expect(yard.refusals() == [nil, nil])
        // The users are one who has never seen the vault, and one who accepts any vault.
        try yard.fixture.restore(before)
        try yard.fixture.forget()
        #expect(yard.refusals() == [.rolledBack, .rolledBack])
        #expect(code { () throws(VaultError) in try yard.fixture.accept(.identity(yard.yard.ada)) } == .rolledBack)
        yard.forgetRosters()
        #expect(yard.refusals(stating: yard.team.publicKey) == [.rolledBack, .rolledBack])
    }

    /// A former person continues an old copy: it has later periods under the known person key, with its certificate.
    @Test func aVaultContinuedFromAnOldCopyIsRolledBack() throws {
        let yard = try CertifiedYard()
        let continued = try yard.copyElsewhere { bob in for _ in 1...2 { _ = try bob.rekey() } }
        try yard.open().removeSlot(id: yard.yard.bobSlot, certifiedBy: yard.team)
        let honest = try yard.fixture.copy()
        let state = try #require(yard.fixture.place.certification?.state)
        #expect(state == VaultFloor(period: 2, keyPeriod: 2))
        // A user who has seen neither the removal nor a roster cannot distinguish it from the true vault.
        try yard.fixture.restore(continued)
        try yard.fixture.forget()
        #expect(
            try yard.refusals(stating: yard.team.publicKey) == [nil, nil]
                && yard.fixture.place.memory.load()?.period == 3)
        try yard.fixture.restore(honest)
        try yard.fixture.forget()
        #expect(yard.refusals() == [nil, nil])
        try yard.put(try SignedRoster(signing: try yard.roster(1) { $0.floor = state }, with: yard.team))
        #expect(yard.refusals() == [nil, nil])
        try yard.fixture.restore(continued)
        try yard.fixture.forget()
        #expect(yard.refusals() == [.rolledBack, .rolledBack])
        yard.forgetRosters()
        #expect(yard.refusals(stating: yard.team.publicKey) == [.rolledBack, .rolledBack])
    }

    // MARK: A lost team key

    /// A person names the lost key and its successor. No other user follows without a decision.
    @Test func aPersonReplacesALostTeamKey() throws {
        let yard = try CertifiedYard()
        let (lost, next, other) = (yard.team.publicKey, try TeamKey.random(), try TeamKey.random().publicKey)
        let files = try yard.fixture.copy().files
        #expect(code { () throws(VaultError) in try yard.certify(by: next) } == .wrongTeamKey)
        #expect(code { () throws(VaultError) in try yard.certify(by: next, replacing: other) } == .wrongTeamKey)
        // The machine's settings must be changed first.
        try stating(lost, yard) {
            #expect(code { () throws(VaultError) in try yard.certify(by: next, replacing: lost) } == .wrongTeamKey)
        }
        #expect(try yard.fixture.copy().files == files)
        let memory = try #require(try yard.fixture.place.memory.load())
        #expect(try yard.certify(by: next, replacing: lost).teamKey == next.publicKey)
        #expect(yard.refusals() == [nil, nil])
        try yard.open().removeSlot(id: yard.yard.bobSlot, certifiedBy: next)
        // The other user has seen the lost key.
        yard.fixture.place.memory.store(memory, isAccepted: true)
        #expect(yard.refusals() == [.replaced, .replaced])
        try yard.fixture.accept(.identity(yard.yard.ada))
        #expect(yard.refusals() == [nil, nil])
    }

    @Test func aLostKeysRosterIsReplacedFirst() throws {
        let yard = try CertifiedYard()
        let (lost, next) = (yard.team.publicKey, try TeamKey.random())
        try yard.put(try SignedRoster(signing: try yard.roster(3), with: yard.team))
        _ = try yard.open()
        #expect(code { () throws(VaultError) in try yard.certify(by: next, replacing: lost) } == .noRoster)
        var fresh = try yard.roster(1)
        fresh.team = next.publicKey
        let signed = try SignedRoster(signing: fresh, with: next)
        try RosterFile.put(signed, in: try yard.container(), home: yard.fixture.home, isAnew: true)
        #expect(try yard.certify(by: next, replacing: lost).teamKey == next.publicKey)
        #expect(yard.refusals() == [nil, nil])
    }
}
