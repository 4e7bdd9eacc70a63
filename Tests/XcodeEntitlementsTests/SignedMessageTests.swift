import TestSupport
import Testing

@testable import XcodeEntitlements

@Suite struct SignedMessageTests {
    private func fault(_ bytes: [UInt8]) -> ProvisioningError.Code? {
        provisioningFault { _ = try SignedMessage(parsing: bytes) }
    }

    @Test func itsPartsAreTheContentsTheCertificatesAndTheSigners() throws {
        let message = try SignedMessage(parsing: ProfileFixture.bytes("development.mobileprovision"))
        #expect(message.content.starts(with: "<?xml".utf8))
        #expect(message.certificates.count == 3)
        #expect(message.signers.count == 1)
    }

    @Test func contentsInPiecesAreJoined() throws {
        let plain = try SignedMessage(parsing: ProfileFixture.bytes("development.mobileprovision"))
        let streamed = try SignedMessage(parsing: ProfileFixture.bytes("ber.mobileprovision"))
        #expect(streamed.content.elementsEqual(plain.content))
        let pieces = ProfileForge.element(0x24, ProfileForge.element(4, [1, 2]), ProfileForge.element(4, [3]))
        #expect(Array(try SignedMessage(parsing: ProfileForge.message(around: pieces)).content) == [1, 2, 3])
    }

    @Test func twoSignersAreTwoParts() throws {
        #expect(try SignedMessage(parsing: ProfileFixture.bytes("two.mobileprovision")).signers.count == 2)
    }

    @Test(arguments: ["detached.mobileprovision", "unsigned.mobileprovision"])
    func aMessageWithoutContentsOrSignatureIsNotSigned(_ name: String) throws {
        #expect(fault(try ProfileFixture.bytes(name)) == .notSigned)
    }

    @Test(arguments: ["", "<?xml version=\"1.0\"?><plist/>", "bplist00", "{}", "-----BEGIN CMS-----", "\0\0\0\0"])
    func whatDoesNotBeginLikeAMessageIsNotSigned(_ text: String) {
        #expect(fault(Array(text.utf8)) == .notSigned)
    }

    @Test func anUnsignedMessageIsRefused() {
        #expect(fault(ProfileForge.message([], signers: [])) == .notSigned)
    }

    @Test func signedContentsOfAnotherTypeAreRefused() {
        #expect(fault(ProfileForge.message([], contentType: ProfileForge.signedData)) == .malformedMessage)
    }

    @Test(arguments: ["development.mobileprovision", "ber.mobileprovision"])
    func everyCutIsRefused(_ name: String) throws {
        let bytes = try ProfileFixture.bytes(name)
        for count in 1..<bytes.count { #expect(fault(Array(bytes.prefix(count))) == .malformedMessage, "\(count)") }
    }

    @Test(arguments: [[0], [0, 0], [0x0A], [0x30, 0]] as [[UInt8]]) func nothingMayFollow(_ tail: [UInt8]) throws {
        #expect(fault(try ProfileFixture.bytes("development.mobileprovision") + tail) == .malformedMessage)
    }

    /// Messages with one fault each.
    static let malformed: [(String, [UInt8])] = [
        ("a gigabyte claimed", [0x30, 0x84, 0x40, 0, 0, 0]),
        ("a length beyond the sign", [0x30, 0x88] + [UInt8](repeating: 0xFF, count: 8)),
        ("a length of 127 bytes", [0x30, 0xFF] + [UInt8](repeating: 1, count: 127)),
        ("a length without end", [0x30, 0x88, 1]),
        ("no contents", [0x30, 0]),
        ("open and never closed", [0x30, 0x80]),
        ("closed twice", [0x30, 0x80, 0, 0, 0, 0]),
        ("a tag without end", [0x30, 4, 0x1F, 0xFF, 0xFF, 0xFF]),
        ("a tag's number that overflows", [0x30, 14, 0x1F] + [UInt8](repeating: 0xFF, count: 11) + [0x7F, 0]),
        ("a child larger than its parent", [0x30, 3, 0x04, 9, 0]),
        ("a type of no bytes", [0x30, 2, 0x06, 0]),
        ("a primitive of open length", [0x30, 4, 0x04, 0x80, 0, 0]),
        ("another structure", ProfileForge.element(0x30, ProfileForge.one, ProfileForge.one)),
        ("no certificates' end", ProfileForge.message([], certificates: [0xA0, 0x80, 0x30, 0])),
        ("primitive certificates", ProfileForge.message([], certificates: [0x80, 1, 0])),
        ("signers of another kind", ProfileForge.message([], signers: ProfileForge.one)),
        ("signers in a sequence", ProfileForge.message([]).dropLast(7) + [0x30, 5, 0x30, 3, 2, 1, 1]),
    ]

    @Test(arguments: malformed.indices) func invalidSyntaxIsRefused(_ index: Int) {
        let (name, bytes) = Self.malformed[index]
        #expect(fault(bytes) == .malformedMessage, "\(name)")
    }

    @Test(arguments: [60, 4000]) func depthEndsBeforeTheStackDoes(_ depth: Int) {
        var closed: [UInt8] = []
        for _ in 0..<depth { closed = ProfileForge.element(0x30, closed) }
        #expect(fault(closed) == .malformedMessage)
        #expect(fault([UInt8](repeating: 0x30, count: 2 * depth).enumerated().map { $0 % 2 == 0 ? $1 : 0x80 }) != nil)
    }

    @Test func manyElementsAreRefusedBeforeAnyIsMade() {
        let many = [UInt8](repeating: 0, count: 2 * MessageSize.mostElements).enumerated().map { $0 % 2 == 0 ? 5 : $1 }
        #expect(fault(ProfileForge.element(0x30, many)) == .tooLarge)
        let open = [UInt8](repeating: 0x30, count: 2 << 20).enumerated().map { $0 % 2 == 0 ? $1 : 0x80 }
        #expect(fault(open) == .tooLarge)
        // One element fewer passes the limit, so the parser refuses it.
        #expect(fault(ProfileForge.element(0x30, Array(many.dropLast(2)))) == .malformedMessage)
    }

    @Test func theContentsPiecesMayNestAndStayWithinTheLimit() {
        var pieces = ProfileForge.element(4, [1])
        for _ in 0..<30 { pieces = ProfileForge.element(0x24, pieces) }
        #expect(fault(ProfileForge.message(around: pieces)) == nil)
    }
}
