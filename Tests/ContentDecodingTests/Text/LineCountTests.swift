import ContentDecoding
import Testing

@Suite struct LineCountTests {
    @Test(arguments: [0, 1, 15, 16, 17, 4079, 4080, 4081, 10_000])
    func everyLineEndIsCountedRegardlessOfTheLength(count: Int) {
        let bytes = (0..<count).map { UInt8($0 % 3 == 0 ? 0x0A : 0x61) }
        #expect(bytes.withUnsafeBytes { LineCount.newlines(in: $0) } == bytes.count { $0 == 0x0A })
        let ends = [UInt8](repeating: 0x0A, count: count)
        #expect(ends.withUnsafeBytes { LineCount.newlines(in: $0) } == count)
    }
}
