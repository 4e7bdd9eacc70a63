import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests that no file contains a vault's secrets in clear after any operation.
@Suite(.timeLimit(.minutes(10))) struct VaultCanaryFaultTests {
    private static let tight = ItemLimits(valueSize: 3, totalValueSize: 3, tableSize: 1 << 20, count: 100)

    @Test func nothingThatTheVaultLeavesHoldsASecret() throws {
        var sandbox = try CanarySandbox()
        let vault = try sandbox.makeVault()
        var texts = try useItems(vault, sandbox)
        texts += try useSlots(vault, sandbox)
        texts += try useBackups(vault, sandbox)
        // The vault is opened again, because the lock removed the keys of the first opening.
        let reopened = try sandbox.fixture.open(with: .passphrase(try sandbox.passphrase()))
        _ = try reopened.beginRotation()
        try sandbox.addKeys(of: reopened)
        try vault.completeRotation(to: try vault.activeKey().epoch)
        for key in try vault.keySummaries() where key.state == .decryptOnly { try vault.destroyKey(key.id) }
        texts += try vault.keySummaries().map { "\($0)" }
        var entries = 0
        _ = try vault.readAccessLog { entry, _ in
            entries += 1
            texts.append("\(entry)")
        }
        #expect(entries > 20)
        #expect(sandbox.leaks() == [])
        for text in texts { #expect(sandbox.search.found(in: Array(text.utf8)) == [], "\(text)") }
    }

    @Test func theSearchFindsWhatIsThere() throws {
        var sandbox = try CanarySandbox()
        _ = try sandbox.makeVault()
        // Each half and form has one name, and each secret has one file.
        let found = sandbox.search.found(below: sandbox.fixture.directory.path)
        #expect(Set(found.compactMap { $0.split(separator: ": ").last.map(String.init) }) == sandbox.files)
        let value = sandbox.value
        let plain = try sandbox.fixture.directory.directory("plain")
        let forms: [[UInt8]] = [
            value, value.flatMap { [$0, 0] }, Array(value.dropFirst(20)), Array(value.dropLast(20)),
            [1, 2] + value, Array(hexadecimal(value).utf8), Array(hexadecimal(value).uppercased().utf8),
        ]
        for (index, form) in forms.enumerated() { try SystemFile.write("\(plain)/\(index)", form) }
        for name in try SystemFile.names(plain) {
            #expect(sandbox.search.found(below: plain).contains { $0.hasSuffix("/\(name)") }, "\(name)")
        }
        for shift in ["", "x", "xy"] {
            let script = "{ printf %s '\(shift)'; cat '\(plain)/0'; } | base64 -w 0"
            let text = try ChildProcess.run("/bin/sh", ["-c", script]).output
            #expect(sandbox.search.found(in: text).contains { $0.hasSuffix("base64") }, "\(shift)")
        }
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Each flow returns its texts for people: descriptions, errors, reports.
    private func useItems(_ vault: Vault, _ sandbox: CanarySandbox) throws -> [String] {
        var texts: [String] = []
        for (index, accessibility) in Accessibility.allCases.enumerated() {
            try vault.add("s", "a\(index)", label: "l", accessibility, sandbox.value)
        }
        for size in [1, 4] {
            let value = [[UInt8]](repeating: sandbox.value, count: size * 200).flatMap { $0 }
            try vault.update("s", "a0", value: value)
            #expect(try vault.value("s", "a0") == value)
        }
        let copy = try vault.copyValue(service: "s", account: "a1")
        texts += try vault.items().map { "\($0)" } + ["\(vault)", "\(copy.count)"]
        texts += try said { try vault.add("s", "a0", sandbox.value) }
        texts += try said { try vault.add("s", "b", label: "", sandbox.value, limits: Self.tight) }
        texts += try said { try vault.update("s", "none", value: sandbox.value) }
        try vault.deleteItem(service: "s", account: "a3")
        texts += try said { _ = try vault.value("s", "a3") }
        return texts
    }

    private func useSlots(_ vault: Vault, _ sandbox: CanarySandbox) throws -> [String] {
        var texts = try vault.slots().map { "\($0)" }
        let (fixture, credential) = (sandbox.fixture, VaultCredential.passphrase(try sandbox.passphrase()))
        for credential in [credential, .identity(sandbox.identity), .defaultKeyFile] {
            texts.append("\(try fixture.open(with: credential))")
        }
        let other = try vault.addSlot(.passphrase(try Passphrase("another one"), .minimum))
        try vault.replaceSlot(id: other.id, with: .passphrase(try sandbox.passphrase(), .minimum))
        texts.append("\(try vault.removeSlot(id: try vault.slots().map(\.id).max() ?? 0))")
        let memory = try MemoryDirectory()
        try UnlockCaches.$current.withValue(.runtimeFile(below: memory.path)) {
            try fixture.open(with: credential).unlock(for: .seconds(600))
            #expect(try SystemFile.names(memory.tickets).count == 2)
            texts += try fixture.open(with: .unlocked).items().map { "\($0)" }
            texts.append("\(try Vault.status(fixture.accessGroup, in: fixture.home))")
            try Vault.lock(fixture.accessGroup, in: fixture.home, everything: true)
        }
        texts += ["\(sandbox.identity)", "\(try sandbox.passphrase())", "\(credential)"]
        let wrong = try passphrase("of another vault")
        texts += try said { _ = try fixture.open(with: wrong) }
        texts += try said { _ = try Recipient(String(decoding: SystemFile.read(sandbox.identityFile), as: UTF8.self)) }
        return texts
    }

    private func useBackups(_ vault: Vault, _ sandbox: CanarySandbox) throws -> [String] {
        let path = sandbox.fixture.directory.path("backup")
        let credential = VaultCredential.passphrase(try sandbox.passphrase())
        let opened = try sandbox.fixture.open(with: credential)
        var texts = ["\(try opened.export(to: path, for: [.passphrase(try sandbox.passphrase(), .minimum)]))"]
        texts += try said { _ = try opened.export(to: path, for: [.recipient(sandbox.identity.recipient)]) }
        var importing = ImportOptions()
        importing.replacesItems = true
        let report = try Vault.import(
            from: path, opening: credential, sandbox.fixture.accessGroup, in: sandbox.fixture.home, with: credential,
            importing: importing)
        texts.append("\(report)")
        return texts
    }

    private func said(_ body: () throws(any Error) -> Void) throws -> [String] {
        let error = try #require(throws: VaultError.self) { try body() }
        return ["\(error)", String(reflecting: error), error.reason, error.advice]
    }
}
