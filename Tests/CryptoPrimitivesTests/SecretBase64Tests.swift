import CryptoPrimitives
import Foundation
import Testing

@Suite struct SecretBase64Tests {
    @Test func eitherAlphabetIsReadWithPaddingOrWithout() throws {
        for count in 1...64 {
            for _ in 0..<20 {
                let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max) }
                let text = Data(bytes).base64EncodedString()
                let url = text.replacing("+", with: "-").replacing("/", with: "_")
                for form in [text, url] {
                    #expect(try decode(form, count: count) == bytes)
                    #expect(try decode(form.replacing("=", with: ""), count: count) == bytes)
                }
            }
        }
    }

    @Test(arguments: [
        "", "AA", "AA=", "AA===", "AAB=", "AAC=", "AAD", "AA*=", "AA =", "AA\n", "A+-=", "=AAE", "AAAAA", "AAA*",
    ])
    func anythingElseIsRefused(text: String) {
        // Two bytes have 16 bits, three letters 18: the last two are zero in what an encoder wrote.
        #expect(throws: CryptoError(.malformedEncoding, "base64 decoding")) { _ = try decode(text, count: 2) }
    }

    private func decode(_ text: String, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try bytes.withUnsafeMutableBytes { bytes in
            try Array(text.utf8).withRawBytes { try SecretBase64.decode($0, into: bytes) }
        }
        return bytes
    }
}
