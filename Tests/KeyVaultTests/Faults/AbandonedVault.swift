import AppGroups
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// A damaged vault that a person abandons with `sealctl vault rekey --without-vault`.
struct AbandonedVault {
    private let damage: RekeyKillFaultTests.AbandonedPart
    private let sandbox: RekeySandbox
    /// The former sealing key.
    private let key: KeyID

    init(_ damage: RekeyKillFaultTests.AbandonedPart) throws {
        self.damage = damage
        sandbox = try RekeySandbox()
        key = try sandbox.fixture.open().activeKey().id
        try sandbox.ada.write(to: sandbox.fixture.directory.path("ada"))
        _ = try GroupContainer.open(sandbox.fixture.group, in: sandbox.fixture.home)
        switch damage {
        case .index: try sandbox.damageIndex()
        case .file: try SystemFile.write(sandbox.fixture.path, [UInt8](repeating: 0x41, count: 3000))
        }
    }

    var environment: [String: String] { RekeyedVault.environment(sandbox.fixture) }
    private var words: [String] {
        ["vault", "rekey", "--without-vault", "--yes", "--json", "--identity", sandbox.fixture.directory.path("ada")]
    }

    func rekey() -> TracedProcess {
        TracedProcess(words, of: "sealctl", log: sandbox.fixture.directory.path + ".trace")
    }

    /// Runs the command again, and checks that nothing is pending and only the damaged part is lost.
    func expectWhole(_ comment: Comment) throws {
        // The file keeps its name until its successor gets it.
        #expect(SystemFile.exists(sandbox.fixture.path), comment)
        let again = try ChildProcess.run("sealctl", words, environment: environment)
        // The status is 64 (the vault opens) if the command was killed after its second write.
        #expect([0, 64, 75].contains(again.exitCode), "\(comment): \(again.errorText)")
        let service = try sandbox.fixture.open()
        #expect((service.keyring.sealingKey(for: key) != nil) == (damage == .index), comment)
        #expect(try service.items().isEmpty, comment)
        let person = try sandbox.person()
        #expect(try person.current().register?.nextRoot == nil && person.rekeyFailure == nil, comment)
        #expect(try person.value("large", "person") == RekeySandbox.large, comment)
        try person.add("s", "again", .afterFirstUnlock)
        #expect(try service.value("s", "again") == [1, 2, 3], comment)
        let bob = try sandbox.person(sandbox.bob)
        #expect(try bob.value("small", "person") == RekeySandbox.small, comment)
    }
}
