import AppGroups
import Glibc
import TestSupport
import Testing

@testable import KeyVault

/// A vault with a slot of each permanent kind, and a process that opens any file in its place and measures the cost.
final class VaultCostProbe {
    /// The permitted increase of the process's resident memory by an opening, in KiB.
    static let growthLimit = 8 * 1024
    static let passphraseText = "correct horse"
    /// The results for a forged or damaged file.
    static let refusals: Set<String> = [
        "corrupt", "unsupported", "wrongKeyFile", "wrongPassphrase", "isAnExport", "locked", "replaced", "missing",
        "rolledBack",
    ]

    struct Answer {
        let text: String
        let growth: Int
        let microseconds: Int
    }

    let fixture: VaultFixture
    /// The role of the file: a service opens the services' file, a person the persons' file.
    let role: CompartmentRole
    let good: [UInt8]
    var path: String { fixture.beside(role.leaf) }
    /// The limit in KiB. A passphrase requires its key derivation: 19 MiB at least.
    private var limit: Int { role == .person ? Self.growthLimit + 20 * 1024 : Self.growthLimit }
    private let keyFileProbe: ChildProcess
    private let passphraseProbe: ChildProcess

    init(_ role: CompartmentRole = .service) throws {
        self.role = role
        fixture = try VaultFixture()
        let passphrase = try Array(Self.passphraseText.utf8).withUnsafeBytes { try Passphrase(copying: $0) }
        let vault = try Vault.create(
            fixture.accessGroup, in: fixture.home,
            slots: [
                .defaultKeyFile, .passphrase(passphrase, .minimum), .recipient(try Identity.random().recipient),
            ], openingWith: .defaultKeyFile)
        try vault.add("s", "a", [1, 2, 3])
        good = try SystemFile.read(fixture.beside(role.leaf))
        let words = ["vault-cost", fixture.directory.path, fixture.group.identifier]
        keyFileProbe = try ChildProcess("sealed-probe", words)
        passphraseProbe = try ChildProcess("sealed-probe", words + [Self.passphraseText])
        // These openings determine the basic cost, which is highest for the first one.
        for isPerson in [false, true, false, true] { #expect(try open(withPassphrase: isPerson).text == "opened") }
    }

    /// Opens the present file with the key file, or with the passphrase.
    func open(withPassphrase: Bool? = nil) throws -> Answer {
        let child = withPassphrase ?? (role == .person) ? passphraseProbe : keyFileProbe
        try child.write("open\n")
        let line = try #require(try child.readLine(), "the process ended")
        let words = line.split(separator: " ")
        guard words.count == 3, let growth = Int(words[1]), let time = Int(words[2]) else {
            throw NoAnswer(description: line)
        }
        return Answer(text: String(words[0]), growth: growth, microseconds: time)
    }

    /// Expects a refusal at little cost that leaves the file as it is.
    func expectRefusal(
        of bytes: [UInt8], _ name: String, as codes: Set<String> = refusals, growing limit: Int? = nil
    ) throws {
        try SystemFile.write(path, bytes)
        try expectRefusal(name, as: codes, growing: limit)
        #expect(try SystemFile.read(path) == bytes, "\(name)")
    }

    func expectRefusal(_ name: String, as codes: Set<String> = refusals, growing limit: Int? = nil) throws {
        let before = try facts()
        let answer = try open()
        #expect(codes.contains(answer.text), "\(name): \(answer)")
        #expect(answer.growth < limit ?? self.limit, "\(name): \(answer)")
        #expect(try facts() == before, "\(name)")
    }

    /// Returns inode, type and mode, size, and time of the last change of the file with the vault's name.
    private func facts() throws -> [Int] {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw NoAnswer(description: "lstat \(errno)") }
        return [
            Int(status.st_ino), Int(status.st_mode), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
        ]
    }

    func restore() throws {
        unlink(path)
        rmdir(path)
        try SystemFile.write(path, good)
        #expect(try open().text == "opened")
    }

    struct NoAnswer: Error, CustomStringConvertible { let description: String }
}
