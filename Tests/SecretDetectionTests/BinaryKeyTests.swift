import TestSupport
import Testing

@testable import SecretDetection

/// Tests of private keys in DER, in files and values.
@Suite struct BinaryKeyTests {
    static let openssl = "/usr/bin/openssl"
    static let hasOpenSSL = SystemFile.exists(openssl)

    static let made: [(rule: String, command: String)] = [
        ("key.private.der", "genpkey -algorithm RSA -outform DER -out k"),
        ("key.private.der", "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -outform DER -out k"),
        ("key.private.der", "genpkey -algorithm ED25519 -outform DER -out k"),
        ("key.private.der", "genpkey -algorithm X25519 -outform DER -out k"),
        ("key.private.der", "genrsa -traditional -out p 2048 && rsa -in p -traditional -outform DER -out k"),
        ("key.private.der", "ecparam -name secp384r1 -genkey -noout -outform DER -out k"),
        (
            "key.private.encrypted",
            "genpkey -algorithm ED25519 -out p && pkcs8 -topk8 -in p -passout pass:abc -outform DER -out k"
        ),
        (
            "key.pkcs12",
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout p -out c -subj /CN=a"
                + " && pkcs12 -export -inkey p -in c -passout pass:abc -out k"
        ),
    ]

    @Test(.enabled(if: hasOpenSSL), arguments: made)
    func aKeyOfOpenSSLIsFound(_ rule: String, _ command: String) throws {
        let key = try Self.bytes(command)
        try Self.expect(key, rule)
        // The bytes behind the key are searched as usual.
        let token = SecretSample("", "ghp_{an36}").drawn(seed: 5)
        #expect(Found.all(in: key + Array(" \(token) ".utf8)).map(\.rule.id) == [rule, "token.github"])
        #expect(Found.all(in: key.dropLast()).isEmpty, "it does not end where it says")
        #expect(Found.all(in: [0x20] + key).isEmpty)
    }

    @Test(
        .enabled(if: hasOpenSSL),
        arguments: [
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout p -subj /CN=a -outform DER -out k",
            "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out p && pkey -in p -pubout -outform DER -out k",
            "genrsa -out p 2048 && rsa -in p -RSAPublicKey_out -outform DER -out k",
            "dhparam -dsaparam -outform DER -out k 1024",
        ]) func publicValuesAreNotFound(_ command: String) throws
    {
        let bytes = try Self.bytes(command)
        #expect(Found.all(in: bytes).isEmpty)
        #expect(!bytes.withUnsafeBytes { SecretSearcher.standard.isSuspicious($0) })
    }

    @Test func aKeyIsFoundWithoutATool() throws {
        var generator = SeededGenerator(seed: 6)
        let random = (0..<32).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        try Self.expect([0x30, 46, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 4, 34, 4, 32] + random, "key.private.der")
        let zeroes = [UInt8](repeating: 0, count: 32)
        #expect(Found.all(in: [0x30, 46, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 4, 34, 4, 32] + zeroes).isEmpty)
    }

    @Test func aStoreOfOpenLengthsIsFound() throws {
        var generator = SeededGenerator(seed: 7)
        let random = (0..<900).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        let head: [UInt8] = [0x30, 0x80, 2, 1, 3, 0x30, 0x80, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]
        try Self.expect(head + random, "key.pkcs12")
    }

    @Test func randomBytesAreNotAKey() {
        var generator = SeededGenerator(seed: 8)
        var bytes = [UInt8](repeating: 0, count: 256)
        for round in 0..<100_000 {
            for index in stride(from: 0, to: bytes.count, by: 8) {
                let word = generator.next()
                for shift in 0..<8 { bytes[index + shift] = UInt8(truncatingIfNeeded: word >> (8 * UInt64(shift))) }
            }
            // Half of them are sequences with a correct length.
            if round.isMultiple(of: 2) { bytes.replaceSubrange(0..<3, with: [0x30, 0x81, 253]) }
            if round.isMultiple(of: 4) { bytes.replaceSubrange(3..<6, with: [2, 1, UInt8(round / 4 % 4)]) }
            let match = bytes.withUnsafeBytes { BinaryKey.match(in: SearchText($0)) }
            #expect(match == nil, "round \(round)")
        }
    }

    private static func expect(_ key: [UInt8], _ rule: String) throws {
        let found = Found.all(in: key)
        #expect(found.map(\.rule.id) == [rule])
        #expect(found.first?.range == 0..<key.count)
        key.withUnsafeBytes { key in
            #expect(SecretSearcher.standard.isSuspicious(key))
            #expect(SecretSearcher.standard.judge(key, named: nil).map(\.rule.id) == [rule])
            #expect(SecretSearcher.standard.searchAll(key) { _ in }.isEmpty)
        }
    }

    private static func bytes(_ command: String) throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let script = command.split(separator: " && ").map { "\(openssl) \($0)" }.joined(separator: " && ")
        let result = try ChildProcess.run("/bin/sh", ["-c", script], directory: directory.path)
        try #require(result.exitCode == 0, "\(result.errorText)")
        return try SystemFile.read(directory.path("k"))
    }
}
