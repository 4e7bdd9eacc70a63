import AppGroups
import ContainerAudit
import FoundationEssentials
import KeyVault
import SealedState
import TestSupport
import Testing

@Suite struct RecordHabitTests {
    let sandbox: AuditSandbox
    init() throws { sandbox = try AuditSandbox() }

    @Test(arguments: ["accounts/ada/access-token", "accounts/session-1", "refreshToken", "jwt"])
    func aCredentialWithoutAnEndIsGoodToKnow(name: String) throws {
        let store = try sandbox.store()
        try store.write(Token(text: "x"), named: name)
        let report = try sandbox.audit()
        #expect(report.ids == ["record.endless"])
        #expect(report.isClean)
        #expect(report.findings.first?.detail.contains(name) == true)
    }

    @Test(arguments: ["token_count", "session-settings", "tokenizer", "accounts", "tokens/state"])
    func aSimilarNameIsNotAMatch(name: String) throws {
        let store = try sandbox.store()
        try store.write(Token(text: "x"), named: name)
        #expect(try sandbox.audit().ids == [])
    }

    @Test func aCredentialWithAnEndIsAsItShouldBe() throws {
        let store = try sandbox.store()
        try store.write(Token(text: "x", end: Date() + 3600), named: "jwt")
        #expect(try sandbox.audit().ids == [])
    }

    @Test func manyAreOneFinding() throws {
        let store = try sandbox.store()
        for index in 0..<20 { try store.write(Token(text: "x"), named: "accounts/\(index)/jwt") }
        let report = try sandbox.audit()
        #expect(report.ids == ["record.endless"])
        #expect(report.findings.first?.detail.contains("and 12 more") == true)
    }

    private func makeVaultOfTwoClasses() throws {
        let identity = try Identity.random()
        _ = try Vault.create(
            AccessGroup(sandbox.group), in: sandbox.home, slots: [.recipient(identity.recipient), .defaultKeyFile],
            openingWith: .identity(identity))
    }

    private func add(_ account: String, _ accessibility: Accessibility, to store: SealedStore) throws {
        try Array("value".utf8).withUnsafeBytes {
            try store.vault.addItem(service: "api", account: account, accessibility: accessibility, value: $0)
        }
    }

    @Test func anItemOfACredentialIsNamedWhereThereIsAStricterClass() throws {
        try makeVaultOfTwoClasses()
        let store = try sandbox.store()
        try add("refresh-token", .afterFirstUnlock, to: store)
        try add("password hints", .afterFirstUnlock, to: store)
        let report = try sandbox.audit()
        #expect(report.ids == ["vault.item-reachable"])
        #expect(report.isClean)
        #expect(report.findings.first?.detail == "After the first unlock: api/refresh-token.")
        #expect(report.findings.first?.remedy.contains("-s api -a refresh-token --accessible when-unlocked") == true)
    }

    @Test func anItemOfAVaultWithOneClassIsNot() throws {
        let store = try sandbox.store()
        try add("refresh-token", .afterFirstUnlock, to: store)
        #expect(try sandbox.audit().ids == [])
    }

    @Test func whereThereIsAStricterClassItIsNamed() throws {
        try makeVaultOfTwoClasses()
        let store = try sandbox.store()
        try store.write(Token(text: "x", end: Date() + 3600), named: "jwt")
        #expect(try sandbox.audit().ids == ["record.reachable"])
    }
}
