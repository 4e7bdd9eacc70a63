import TestSupport
import Testing

@Suite struct ConstantMemoryTests {
    /// One process seals and opens 256 MiB at the same time, and never holds 32 MiB. The list of a digest has 128 KiB.
    @Test(arguments: [1, 2, 4], [[], ["digest"]])
    func aStreamsSizeCostsNoMemory(workers: Int, digest: [String]) throws {
        let result = try ChildProcess.run("sealed-probe", ["stream-memory", "256", "\(workers)"] + digest)
        let numbers = result.outputText.split { !$0.isNumber }.compactMap { Int($0) }
        try #require(result.status == .exited(0) && numbers.count == 2, "\(result.outputText)")
        #expect(numbers[0] == 256 << 20)
        #expect(numbers[1] < 32 << 10)
    }
}
