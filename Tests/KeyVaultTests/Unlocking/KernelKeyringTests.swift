import CryptoPrimitives
import Glibc
import TestSupport
import Testing

@testable import KeyVault

@Suite(.enabled(if: CacheKind.hasKernelKeyring)) struct KernelKeyringTests {
    private let name = UnlockName(vaultID: SecureRandom.bytes(count: 16), .whenUnlocked)

    /// Returns the lines of proc(5)'s `/proc/keys` about this test's key.
    private func lines() throws -> [[Substring]] {
        String(decoding: try SystemFile.read("/proc/keys"), as: UTF8.self).split(separator: "\n")
            .filter { $0.contains(name.text) }.map { $0.split(separator: " ") }
    }

    @Test func aKeyIsForItsUserOnlyAndNotForItsPossessor() throws {
        let keyring = KernelKeyring()
        defer { try? keyring.remove(name) }
        try [UInt8](repeating: 7, count: 40).withUnsafeBytes { try keyring.store($0, as: name, for: .seconds(3600)) }
        let line = try #require(try lines().first)
        // The fields are flags, uses, time left, permissions, user.
        #expect(line[4] == "003b0000")
        #expect(line[5] == "\(geteuid())")
        #expect(line[3] != "perm")
    }

    @Test func aDisplacedKeyCannotBeReadByItsNumber() throws {
        let keyring = KernelKeyring()
        defer { try? keyring.remove(name) }
        for byte in 1...3 as ClosedRange<UInt8> {
            try [UInt8](repeating: byte, count: 40).withUnsafeBytes { try keyring.store($0, as: name, for: nil) }
        }
        // The dead keys disappear when the kernel has collected them.
        #expect(try eventually { try lines().count == 1 })
    }

    @Test func aRemovedKeyIsGoneFromTheSystem() throws {
        let keyring = KernelKeyring()
        try [UInt8](repeating: 7, count: 40).withUnsafeBytes { try keyring.store($0, as: name, for: nil) }
        try keyring.remove(name)
        #expect(try eventually { try lines().isEmpty })
    }
}

/// Tests of a keyring's errors that cannot be caused here.
@Suite struct KernelKeyringRefusalTests {
    private func code(_ answers: [Int32]) -> (code: VaultError.Code?, ended: Int) {
        var (asked, ended) = (0, 0)
        let found = KeyVaultTests.code { () throws(VaultError) in
            try KernelKeyring().remove(
                searching: {
                    defer { asked += 1 }
                    return answers[min(asked, answers.count - 1)]
                }, ending: { _ in ended += 1 })
        }
        return (found, ended)
    }

    @Test func aKeyThatStaysIsAnError() {
        #expect(code([5]) == (.file, 8))
        #expect(code([5, 5, 5, 5, 5, 5, 5, 5, -ENOKEY]) == (nil, 8))
        #expect(code([5, -ENOKEY]) == (nil, 1))
        #expect(code([-ENOKEY]) == (nil, 0))
        #expect(code([5, -EKEYREVOKED]) == (nil, 1))
    }

    @Test(arguments: [ENOSYS, EPERM, EACCES]) func withoutKeyringsTheNextCacheIsAsked(_ number: Int32) {
        #expect(code([-number]) == (.noUnlockCache, 0))
    }

    @Test(arguments: [ENOMEM, EINVAL, EIO, EDQUOT]) func otherFailuresAreReported(_ number: Int32) {
        #expect(code([-number]) == (.file, 0))
        #expect(code([5, -number]) == (.file, 1))
    }
}
