import FoundationEssentials
import Testing

@testable import PropertyLists

@Suite struct LetteredBytesTests {
    private static func base64(_ text: String, most: Int = .max, isCut: Bool = false) -> [UInt8]? {
        Array(text.utf8).withUnsafeBytes { Base64.decode($0, most: most, isCut: isCut) }
    }

    private static func data(_ text: String) -> Result<[UInt8], StructureFault> {
        Array(text.utf8).withUnsafeBytes { text in
            do throws(StructureFault) { return .success(try Base64.decodeData(text)) } catch { return .failure(error) }
        }
    }

    private static func hexadecimal(_ text: String, most: Int = .max) -> [UInt8]? {
        Array(text.utf8).withUnsafeBytes { HexDigits.decode($0, most: most) }
    }

    @Test func base64IsThatOfFoundation() {
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max) }
            let text = Data(bytes).base64EncodedString()
            #expect(String(decoding: Base64.encode(bytes), as: UTF8.self) == text)
            let url = text.replacing("+", with: "-").replacing("/", with: "_")
            for form in [text, url, text.replacing("=", with: "")] { #expect(Self.base64(form) == bytes) }
        }
    }

    @Test func spaceMayBeAnywhereAndPaddingEndsTheText() {
        #expect(Self.base64("SG\n Vs\tbG8=\r\n") == Array("Hello".utf8))
        #expect(Self.base64("SGVsbG8=A") == nil)
        #expect(Self.base64("SGVsbG8===") == nil)
        #expect(Self.base64("SGVs*G8=") == nil)
    }

    @Test func aTextThatIsCutOffGivesItsWholeBytes() {
        #expect(Self.base64("SGVsb") == nil)
        #expect(Self.base64("SGVsb", isCut: true) == Array("Hel".utf8))
        #expect(Self.base64("SGVsbG8gd29ybGQ=", most: 3) == Array("Hel".utf8))
    }

    @Test(arguments: [
        ("SGVsbG8=", "Hello"), (" SGVs\n\tbG8 = ", "Hello"), ("", ""), ("SGk=", "Hi"), ("SA==", "H"), ("SGVs", "Hel"),
    ]) func aPropertyListsDataIsRead(_ text: String, _ expected: String) {
        #expect(Self.data(text) == .success(Array(expected.utf8)))
    }

    @Test(arguments: [
        ("SGk", "truncated data"), ("SGVsbA", "truncated data"), ("SA=", "truncated data"), ("SA===", "truncated data"),
        ("SGk==", "truncated data"),
        ("=", "data that is not Base64"), ("S===", "data that is not Base64"), ("SGVs=", "data that is not Base64"),
        ("SA==SA==", "data that is not Base64"),
        ("S-Vs", "data that is not Base64"), ("S_Vs", "data that is not Base64"),
        ("SGk\u{b}=", "data that is not Base64"), ("S", "truncated data"),
    ]) func aPropertyListsDataHasOneForm(_ text: String, _ fault: String) {
        #expect(Self.data(text) == .failure(.malformed(fault)))
    }

    @Test func hexadecimalDigitsAreWrittenSmallAndReadInEitherCase() {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = String(decoding: HexDigits.encode(bytes), as: UTF8.self)
        #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff"))
        #expect(Self.hexadecimal(text) == bytes)
        #expect(Self.hexadecimal(text.uppercased()) == bytes)
        #expect(Self.hexadecimal("00 fF\n10") == [0, 255, 16])
        #expect(Self.hexadecimal("00ff10", most: 2) == [0, 255])
        for wrong in ["0", "000", "0g", "0x00", "+f"] { #expect(Self.hexadecimal(wrong) == nil) }
    }
}
