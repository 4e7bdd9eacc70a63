import ContentDecoding
import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of files that are truncated while they are read.
@Suite struct CutFileTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Reads a file, and truncates it at its first value.
    private func read(
        _ name: String, _ bytes: [UInt8], hole: Int = 0, cutTo size: Int
    ) throws -> [CarrierBudget.Unread] {
        let path = directory.path(name)
        try SystemFile.write(path, bytes)
        if hole > 0 { #expect(truncate(path, bytes.count + hole) == 0) }
        let source = try FileSource(Descriptor.openForReading(path: path))
        let budget = CarrierBudget()
        let walk = ValueWalk(budget: budget) { _ in #expect(truncate(path, size) == 0) }
        do throws(CarrierFault) { try Carriers.read(CarrierInput(source, name: name), walk) } catch {
            budget.note(error, at: "")
        }
        return budget.unread
    }

    /// Sizes inside the next block, at its beginning, and before it.
    @Test(arguments: [1_500_000, 1 << 20, 700_000, 0])
    func aTextThatIsCutIsNotReadInFull(size: Int) throws {
        let text = Array(String(repeating: "a line of text\n", count: 200_000).utf8)
        #expect(try read("a.txt", text, cutTo: size).map(\.fault) == [.cut])
    }

    @Test(arguments: [1_500_000, 0])
    func aTruncatedFileOfUnknownFormIsReported(size: Int) throws {
        let bytes = [UInt8](repeating: 1, count: 3_000_000)
        #expect(try read("a.bin", bytes, cutTo: size).map(\.fault) == [.cut])
    }

    @Test func aTruncatedJSONFileIsReported() throws {
        let json = Array(("[" + String(repeating: #""a value of text","#, count: 300_000) + "1]").utf8)
        #expect(try read("a.json", json, cutTo: 1_500_000).contains { $0.fault == .cut })
    }

    @Test func aFileThatStaysIsReadInFull() throws {
        let text = Array(String(repeating: "a line of text\n", count: 200_000).utf8)
        #expect(try read("a.txt", text, cutTo: text.count).isEmpty)
        // A hole at the end is not a truncation.
        #expect(try read("b.bin", text, hole: 5 << 20, cutTo: text.count + (5 << 20)).isEmpty)
    }
}
