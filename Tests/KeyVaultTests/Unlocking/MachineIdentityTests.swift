import TestSupport
import Testing

@testable import KeyVault

@Suite struct MachineIdentityTests {
    private let place: TemporaryDirectory

    init() throws { place = try TemporaryDirectory() }

    private func identity(_ text: String) throws(VaultError) -> MachineIdentity {
        try? SystemFile.write(place.path("machine-id"), Array(text.utf8))
        return try MachineIdentity.read(path: place.path("machine-id"))
    }

    private let id = "0123456789abcdef0123456789abcdef"

    @Test func oneMachineHasOneTag() throws {
        let tag = try identity(id + "\n").tag
        #expect(tag.count == 16)
        #expect(try identity(id).tag == tag)
        #expect(try identity("1123456789abcdef0123456789abcdef\n").tag != tag)
    }

    @Test func theTagDoesNotShowTheId() throws {
        let tag = try identity(id).tag
        #expect(
            tag.withUnsafeBytes { $0.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) } }.joined() != id)
    }

    @Test(arguments: [
        "", "\n", "uninitialized\n", "00000000000000000000000000000000\n", "0123456789ABCDEF0123456789abcdef",
        "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdef0", "0123456789abcdef0123456789abcdef\n\n",
        "0123456789abcdef0123456789abcdeg",
    ])
    func anInvalidIdIsRefused(_ text: String) {
        #expect(code { () throws(VaultError) in _ = try identity(text) } == .noMachineIdentity)
    }

    @Test func aMissingFileIsRefused() {
        #expect(
            code { () throws(VaultError) in _ = try MachineIdentity.read(path: place.path("missing")) }
                == .noMachineIdentity)
    }
}
