import Glibc
import TestSupport
import Testing

/// Tests of payloads that are changed at random, with the check of their structure and the decoders: nothing crashes.
/// They run in a process of their own, since a decoder's trap would end the tests. 20,000 of each codec; 2,000,000 with
/// `SEALED_LONG=1` (`make fuzz`).
@Suite struct FuzzPayloadTests {
    private static let isLong = getenv("SEALED_LONG").map { String(cString: $0) == "1" } ?? false
    private static let batch = 20_000
    private static let batches = isLong ? 100 : 1

    private struct Answer {
        let passed: Int
        let decoded: Int
    }

    /// Returns the answer, or `nil` if the process did not survive.
    private func run(_ codec: String, _ first: Int, _ count: Int) throws -> Answer? {
        let result = try ChildProcess.run(
            "sealed-probe", ["payload-fuzz", codec, "\(first)", "\(count)"],
            environment: ["SWIFT_BACKTRACE": "enable=no"], timeLimit: .seconds(600))
        let numbers = result.outputText.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        return numbers.count == 2 ? Answer(passed: numbers[0], decoded: numbers[1]) : nil
    }

    @Test(arguments: ["json", "bplist"], 0..<batches)
    func checkedStructuresNeverEndTheProcess(codec: String, number: Int) throws {
        let first = number * Self.batch
        guard let answer = try run(codec, first, Self.batch) else {
            Issue.record("\(codec): seed \(try culprit(codec, first, Self.batch))")
            return
        }
        // Otherwise nothing was tested.
        #expect(answer.passed > Self.batch / 50 && answer.decoded > Self.batch / 100, "\(codec): \(answer)")
    }

    /// Returns the first seed that ends the process, found by bisection.
    private func culprit(_ codec: String, _ first: Int, _ count: Int) throws -> Int {
        if count <= 1 { return first }
        let half = count / 2
        return try run(codec, first, half) == nil
            ? culprit(codec, first, half) : culprit(codec, first + half, count - half)
    }
}
