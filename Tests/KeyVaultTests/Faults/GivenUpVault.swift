import AppGroups
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// A damaged vault that a person abandons with `sealctl vault rekey --without-vault`.
struct GivenUpVault {
    private let damage: RekeyKillFaultTests.GivenUp
    private let yard: RekeyYard
    /// The former sealing key.
    private let key: KeyID

    init(_ damage: RekeyKillFaultTests.GivenUp) throws {
        self.damage = damage
        yard = try RekeyYard()
        key = try yard.fixture.open().activeKey().id
        try yard.ada.write(to: yard.fixture.directory.path("ada"))
        _ = try GroupContainer.open(yard.fixture.group, in: yard.fixture.home)
        switch damage {
        case .index: try yard.damageIndex()
        case .file: try SystemFile.write(yard.fixture.path, [UInt8](repeating: 0x41, count: 3000))
        }
    }

    var environment: [String: String] { RekeyedVault.environment(yard.fixture) }
    private var words: [String] {
        ["vault", "rekey", "--without-vault", "--yes", "--json", "--identity", yard.fixture.directory.path("ada")]
    }

    func rekey() -> TracedProcess {
        TracedProcess(words, of: "sealctl", log: yard.fixture.directory.path + ".trace")
    }

    /// Runs the command again, and checks that nothing is pending and only the damaged part is lost.
    func expectWhole(_ comment: Comment) throws {
        // The file keeps its name until its successor gets it.
        #expect(SystemFile.exists(yard.fixture.path), comment)
        let again = try ChildProcess.run("sealctl", words, environment: environment)
        // The status is 64 (the vault opens) if the command was killed after its second write.
        #expect([0, 64, 75].contains(again.exitCode), "\(comment): \(again.errorText)")
        let service = try yard.fixture.open()
        #expect((service.keyring.sealingKey(for: key) != nil) == (damage == .index), comment)
        #expect(try service.items().isEmpty, comment)
        let person = try yard.person()
        #expect(try person.current().register?.nextRoot == nil && person.rekeyFailure == nil, comment)
        #expect(try person.value("large", "person") == RekeyYard.large, comment)
        try person.add("s", "again", .afterFirstUnlock)
        #expect(try service.value("s", "again") == [1, 2, 3], comment)
        let bob = try yard.person(yard.bob)
        #expect(try bob.value("small", "person") == RekeyYard.small, comment)
    }
}
