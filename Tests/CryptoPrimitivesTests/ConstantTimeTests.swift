import CryptoPrimitives
import Testing

@Suite struct ConstantTimeTests {
    @Test func equalityIsOfSizeAndBytes() {
        #expect(areEqual([], []))
        #expect(areEqual([1, 2, 3], [1, 2, 3]))
        #expect(!areEqual([1, 2, 3], [1, 2, 4]))
        #expect(!areEqual([1, 2, 3], [0, 2, 3]))
        #expect(!areEqual([1, 2, 3], [1, 2]))
        #expect(!areEqual([], [0]))
    }

    private func areEqual(_ one: [UInt8], _ two: [UInt8]) -> Bool {
        one.withRawBytes { one in two.withRawBytes { ConstantTime.areEqual(one, $0) } }
    }
}
