import Testing

@testable import KeyVault

/// Tests of the access log's entries about items.
@Suite struct ItemLogTests {
    private let fixture: VaultFixture
    private let vault: Vault

    init() throws {
        fixture = try VaultFixture()
        vault = try fixture.create()
    }

    private struct Line: Equatable, CustomStringConvertible {
        let event: AccessEvent
        let outcome: AccessOutcome
        let subject: AccessSubject?
        var description: String { "\(event) \(outcome) \(subject?.description ?? "-")" }

        init(_ event: AccessEvent, _ outcome: AccessOutcome, _ subject: AccessSubject?) {
            self.event = event
            self.outcome = outcome
            self.subject = subject
        }
    }

    /// Returns the entries that `body` adds to the log.
    private func logged(by body: () throws -> Void) throws -> [Line] {
        let before = try lines().count
        try body()
        return Array(try lines().dropFirst(before))
    }

    private func lines() throws -> [Line] {
        var lines: [Line] = []
        let verdict = try vault.log.read(noted: try vault.current().service.state.logHead) { entry, isAuthentic in
            #expect(isAuthentic)
            lines.append(Line(entry.event, entry.outcome, entry.subject))
        }
        _ = verdict
        return lines
    }

    private func subject(_ service: String, _ account: String) throws -> AccessSubject {
        vault.log.subject(of: try ItemForge.name(service, account).subject)
    }

    @Test func readingAValueIsLoggedWithItsKeyedName() throws {
        try vault.add("s", "a")
        let lines = try logged { _ = try vault.value("s", "a") }
        #expect(lines == [Line(.itemRead, .succeeded, try subject("s", "a"))])
        let copies = try logged { _ = try vault.copyValue(service: "s", account: "a") }
        #expect(copies == lines)
    }

    @Test func listsAndMetadataAreNotLogged() throws {
        try vault.add("s", "a")
        let lines = try logged {
            _ = try vault.items()
            _ = try vault.items(service: "s")
            _ = try vault.item(service: "s", account: "a")
        }
        #expect(lines.isEmpty)
    }

    @Test func aReadThatGivesNothingIsLoggedAsRefused() throws {
        let missing = try logged { _ = code { () throws(VaultError) in _ = try vault.value("s", "a") } }
        #expect(missing == [Line(.itemRead, .refused, try subject("s", "a"))])
        let person = try passphrase("one")
        guard case .passphrase(let words) = person else { return }
        try vault.addSlot(.passphrase(words, .minimum))
        try fixture.open(with: person).add("s", "b", .whenUnlocked)
        let locked = try logged { _ = code { () throws(VaultError) in _ = try vault.value("s", "b") } }
        #expect(locked == [Line(.itemRead, .refused, try subject("s", "b"))])
    }

    @Test func everyChangeIsLoggedBeforeItIsMade() throws {
        let lines = try logged {
            try vault.add("s", "a")
            try vault.updateItem(service: "s", account: "a", label: "new")
            try vault.deleteItem(service: "s", account: "a")
        }
        let name = try subject("s", "a")
        #expect(lines == [AccessEvent.itemAdded, .itemUpdated, .itemDeleted].map { Line($0, .intended, name) })
    }

    @Test func namesThatRunTogetherAlikeAreDifferentSubjects() throws {
        #expect(try subject("ab", "c") != subject("a", "bc"))
        #expect(try subject("ab", "c") == subject("ab", "c"))
    }
}
