import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of `sealctl vault rekey`, killed at the system calls that change a file: remaining holders keep access, and
/// holders that were reported as removed have none.
@Suite(
    .enabled(
        if: TracedProcess.isPossible && SystemFile.exists(builtProduct("sealctl")),
        "needs sealctl, strace and the right to trace"), .timeLimit(.minutes(60)))
struct RekeyKillFaultTests {
    @Test(arguments: RekeyedVault.Removal.allCases)
    func aKilledRekeyIsCompletedByTheNextPersonAndLosesNothing(_ removal: RekeyedVault.Removal) throws {
        let sandbox = try RekeyedVault(removal)
        var outcomes: Set<Bool> = []
        var killCount = 0
        let calls = try calls(of: sandbox)
        for call in calls {
            let leaver = try sandbox.addLeaver()
            let traced = sandbox.rekey(removing: leaver)
            defer { traced.removeLog() }
            let killed = try traced.run(killedAt: call, environment: sandbox.environment)
            // The last calls of the first rekey may not occur again, because their results are already written.
            let isKilled = killed.status == .signalled(SIGKILL)
            #expect(isKilled || killed.exitCode == 0, "\(call): \(killed.errorText)")
            killCount += isKilled ? 1 : 0
            let isOut = try sandbox.expectWhole("\(call)", without: leaver)
            if !isKilled || killed.outputText.contains("period") { #expect(isOut, "\(call)") }
            outcomes.insert(isOut)
        }
        #expect(outcomes == [true, false] && killCount > calls.count * 3 / 4)
    }

    /// Returns the calls of an undisturbed rekey from the acquisition of the lock. The short form uses the renames and
    /// a few of the others.
    private func calls(of sandbox: RekeyedVault) throws -> [TracedProcess.Call] {
        let leaver = try sandbox.addLeaver()
        let traced = sandbox.rekey(removing: leaver)
        defer { traced.removeLog() }
        let result = try traced.run(environment: sandbox.environment)
        #expect(result.exitCode == 0 && result.outputText.contains("period"), "\(result.errorText)")
        #expect(try sandbox.expectWhole("undisturbed", without: leaver))
        let calls = try traced.calls(from: "\".lock\"").filter(\.isChange)
        let renames = calls.filter { $0.name == "renameat" && $0.line.contains("\"vault") }
        // The rekey writes three times, and at least one write ends the rotation.
        #expect(renames.count >= 4, "\(renames)")
        if isLongForm { return calls }
        let step = max(1, calls.count / 8)
        let sampled = calls.indices.filter { ($0 - step / 2).isMultiple(of: step) }.map { calls[$0] }
        return renames + sampled.filter { call in !renames.contains { "\($0)" == "\(call)" } }
    }

    /// The damaged part of an abandoned `vault`.
    enum AbandonedPart: String, CaseIterable, Sendable { case index, file }

    /// `vault rekey --without-vault` is killed and run again. It loses only the damaged parts.
    @Test(arguments: AbandonedPart.allCases) func aKilledGivingUpLosesNothingMore(_ damage: AbandonedPart) throws {
        let calls = try givingUpCalls(damage)
        let renames = calls.filter { $0.name == "renameat" && $0.line.contains("\"vault") }
        #expect(renames.count >= 3 && calls.contains { $0.name == "linkat" && $0.line.contains("abandoned") })
        let step = max(1, calls.count / (isLongForm ? calls.count : 6))
        let sampled = calls.enumerated().filter { index, call in
            index.isMultiple(of: step) || call.line.contains("\"vault") || call.line.contains("abandoned")
        }
        var killCount = 0
        for (_, call) in sampled {
            let sandbox = try AbandonedVault(damage)
            let traced = sandbox.rekey()
            defer { traced.removeLog() }
            let killed = try traced.run(killedAt: call, environment: sandbox.environment)
            killCount += killed.status == .signalled(SIGKILL) ? 1 : 0
            try sandbox.expectWhole("\(damage) \(call)")
        }
        #expect(killCount > sampled.count * 3 / 4)
    }

    /// Returns the calls of an undisturbed run from the acquisition of the lock.
    private func givingUpCalls(_ damage: AbandonedPart) throws -> [TracedProcess.Call] {
        let sandbox = try AbandonedVault(damage)
        let traced = sandbox.rekey()
        defer { traced.removeLog() }
        let result = try traced.run(environment: sandbox.environment)
        #expect(result.outputText.contains("period"), "\(result.errorText)")
        return try traced.calls(from: "\".lock\"").filter(\.isChange)
    }

    /// The next creation repeats one that was killed between its files.
    @Test func aCreationOfAPersonsVaultThatIsKilledIsMadeAgain() throws {
        var sizes: Set<Int> = []
        for ordinal in 1...(isLongForm ? 12 : 4) {
            let fixture = try VaultFixture()
            let file = fixture.directory.path("passphrase")
            try SystemFile.write(file, Array("correct horse\n".utf8))
            let words = ["vault", "create", "--passphrase-file", file, "--unlock-time", "1ms"]
            let environment = RekeyedVault.environment(fixture)
            let traced = TracedProcess(words, of: "sealctl", log: fixture.directory.path + ".trace")
            defer { traced.removeLog() }
            let killed = try traced.run(injecting: ["linkat:signal=KILL:when=\(ordinal)"], environment: environment)
            let leaves = VaultPlace.leaves.filter { SystemFile.exists(fixture.beside($0)) }
            sizes.insert(leaves.count)
            let again = try ChildProcess.run("sealctl", words, environment: environment)
            // If both files exist, the vault exists.
            #expect([0, leaves.count == 2 ? 45 : 0].contains(again.exitCode), "\(ordinal): \(again.errorText)")
            let vault = try fixture.open(with: try passphrase("correct horse"))
            try vault.add("s", "person", .whenUnlocked)
            try vault.add("s", "service")
            #expect(try vault.items().count == 2, "\(ordinal): \(killed.status)")
        }
        // The creation left no file, the first file, or both files.
        #expect(sizes.isSuperset(of: [0, 1, 2]))
    }
}

/// One vault from which the rekey repeatedly removes a holder. The persons `ada` and `eve` and the service with the
/// default key file remain.
final class RekeyedVault {
    enum Removal: String, CaseIterable, Sendable { case service, person }

    /// The removed holder, with the credentials.
    struct RemovedHolder {
        let id: UInt32
        let credential: VaultCredential
        let vault: Vault
        let roots: [RootKey]
    }

    let removal: Removal
    private let fixture: VaultFixture
    private let ada: Identity
    private let eve: Identity
    private var round = 0
    private var badCount = 0
    private static let large = [UInt8](repeating: 7, count: 3000)

    init(_ removal: Removal) throws {
        self.removal = removal
        fixture = try VaultFixture()
        (ada, eve) = (try .random(), try .random())
        try ada.write(to: fixture.directory.path("ada"))
        let vault = try Vault.create(
            fixture.accessGroup, in: fixture.home, slots: [.recipient(ada.recipient), .defaultKeyFile],
            openingWith: .identity(ada))
        try vault.addSlot(.recipient(eve.recipient))
        try fixture.accept(.identity(eve))
        for accessibility in [Accessibility.afterFirstUnlock, .whenUnlocked] {
            try vault.add("small", accessibility.name, accessibility, [1, 2, 3])
            try vault.add("large", accessibility.name, accessibility, Self.large)
        }
        try vault.makeKey(for: .whenUnlocked)
        _ = try GroupContainer.open(fixture.group, in: fixture.home)
        for (name, options) in [("open", [String]()), ("closed", ["--accessible", "when-unlocked"])] {
            let put = try sealctl(["put", name, "-"] + options + asAda, input: "{\"name\":\"\(name)\"}")
            #expect(put.exitCode == 0, "\(put.errorText)")
        }
    }

    static func environment(_ fixture: VaultFixture) -> [String: String] {
        let home = fixture.directory.path
        return [
            "SEALED_GROUPS_HOME": home, "HOME": home, "SEALCTL_GROUP": "\(fixture.group)",
            "SWIFT_BACKTRACE": "enable=no", "XDG_RUNTIME_DIR": "\(home)/none",
        ]
    }

    var environment: [String: String] { Self.environment(fixture) }
    private var asAda: [String] { ["--identity", fixture.directory.path("ada")] }

    private func sealctl(_ words: [String], input: String = "") throws -> ChildResult {
        try ChildProcess.run("sealctl", words, environment: environment, input: Array(input.utf8))
    }

    private func person(_ identity: Identity? = nil) throws(VaultError) -> Vault {
        try fixture.open(with: .identity(identity ?? ada))
    }

    /// Adds a slot for a holder, who opens the vault with it.
    func addLeaver() throws -> RemovedHolder {
        round += 1
        let credential: VaultCredential
        let id: UInt32
        if removal == .service {
            let path = fixture.directory.path("leaver-\(round).key")
            let digits = SecureRandom.bytes(count: 32).withUnsafeBytes { $0.hexadecimal }
            try SystemFile.write(path, Array("sealed-key-1 \(digits)\n".utf8))
            credential = .keyFile(path: path)
            id = try person().addSlot(.keyFile(path: path)).id
        } else {
            let identity = try Identity.random()
            credential = .identity(identity)
            id = try person().addSlot(.recipient(identity.recipient)).id
            try fixture.accept(credential)
        }
        let vault = try fixture.open(with: credential)
        var roots = [vault.keys.service]
        if removal == .person { roots.append(try vault.keys.withPerson { root throws(VaultError) in root }) }
        return RemovedHolder(id: id, credential: credential, vault: vault, roots: roots)
    }

    func rekey(removing leaver: RemovedHolder) -> TracedProcess {
        TracedProcess(
            ["vault", "rekey", "--remove-slot", "\(leaver.id)", "--yes", "--json"] + asAda, of: "sealctl",
            log: fixture.directory.path + ".trace")
    }

    /// Checks that the next person's opening completes the rekey, and that all remaining holders can read everything.
    ///
    /// - Returns: `true` if the leaver has lost access. Otherwise the leaver is removed now.
    func expectWhole(_ comment: Comment, without leaver: RemovedHolder) throws -> Bool {
        // Between any two writes a service continues.
        try expectItems(try fixture.open(), isPersons: false, comment)
        let ada = try person()
        let register = try #require(try ada.current().register)
        #expect(register.nextRoot == nil, comment)
        try expectItems(ada, isPersons: true, comment)
        try expectItems(try person(eve), isPersons: true, comment)
        try expectItems(try fixture.open(), isPersons: false, comment)
        for (name, options) in [("open", [String]()), ("closed", asAda)] {
            let read = try sealctl(["get", name] + options)
            #expect(read.outputText == "{\"name\":\"\(name)\"}", "\(comment): \(read.errorText)")
        }
        #expect(try ada.readAccessLog().badCount == badCount, comment)
        let isOut = register.slot(leaver.id) == nil
        if isOut {
            try expectOut(leaver, ada, comment)
        } else {
            try expectItems(try fixture.open(with: leaver.credential), isPersons: removal == .person, comment)
            try ada.removeSlot(id: leaver.id)
        }
        // Entries that the leaver's running program has added under the former log key do not count.
        badCount = try ada.readAccessLog().badCount
        return isOut
    }

    private func expectItems(_ vault: Vault, isPersons: Bool, _ comment: Comment) throws {
        for accessibility in [Accessibility.afterFirstUnlock, .whenUnlocked] {
            guard isPersons || accessibility == .afterFirstUnlock else { continue }
            #expect(try vault.value("small", accessibility.name) == [1, 2, 3], comment)
            #expect(try vault.value("large", accessibility.name) == Self.large, comment)
        }
    }

    /// Checks that the credential, a running program and the old roots open nothing that is written now.
    private func expectOut(_ leaver: RemovedHolder, _ ada: Vault, _ comment: Comment) throws {
        let refusal = code { () throws(VaultError) in _ = try fixture.open(with: leaver.credential) }
        #expect(refusal == (removal == .service ? .wrongKeyFile : .wrongIdentity), comment)
        try ada.add("after", "\(round)")
        #expect(
            code { () throws(VaultError) in _ = try leaver.vault.value("after", "\(round)") } == .locked, comment)
        let directory = try #require(try fixture.place.openDirectory())
        for role in [CompartmentRole.service, .person] where removal == .person || role == .service {
            let file = try #require(try CompartmentFile.open(role, in: directory))
            for root in leaver.roots {
                #expect(!file.head.isAuthentic(root), comment)
                let sealing = try PartSealing(fixture.place, role, period: file.head.period, root: root)
                for entry in file.head.parts {
                    let sealed = try #require(try file.sealedPart(entry.number))
                    #expect((try? sealing.open(sealed, entry)) == nil, comment)
                }
            }
        }
    }
}

extension Accessibility {
    /// The name of an account.
    fileprivate var name: String { protection == .whenUnlocked ? "person" : "service" }
}
