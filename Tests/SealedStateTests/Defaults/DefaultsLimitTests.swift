import SealedState
import Synchronization
import Testing

@Suite("SealedDefaults: sizes") struct DefaultsLimitTests {
    private final class ReceivedEvents: Sendable {
        let warnings = Mutex<[DefaultsWarning]>([])
        var all: [DefaultsWarning] { warnings.withLock { $0 } }
    }

    private let received = ReceivedEvents()

    private func sandbox(_ change: (inout DefaultsOptions) -> Void = { _ in }) throws -> DefaultsSandbox {
        try DefaultsSandbox { [received] options in
            options.onWarning = { warning in received.warnings.withLock { $0.append(warning) } }
            change(&options)
        }
    }

    @Test func aValueOverFourKibibytesIsWrittenAndReported() throws {
        let defaults = try sandbox().defaults
        try defaults.set(String(repeating: "x", count: 4096), forKey: "small")
        #expect(received.all.isEmpty)
        try defaults.set(String(repeating: "x", count: 4097), forKey: "large")
        #expect(received.all == [.largeValue(key: "large", size: 4097, suite: defaults.suite)])
        #expect(try defaults.string(forKey: "large")?.count == 4097)
        // Reported for the write of this value, not for a write of another one.
        try defaults.set(1, forKey: "other")
        #expect(received.all.count == 1)
    }

    @Test func aValueOverOneMebibyteIsRefusedAndTheOldOneRemains() throws {
        let defaults = try sandbox().defaults
        try defaults.set([UInt8](repeating: 1, count: 1 << 20), forKey: "data")
        let error = refusal { try defaults.set([UInt8](repeating: 2, count: 1 << 20 + 1), forKey: "data") }
        #expect(error?.code == .tooLarge)
        #expect(error?.reason.contains("data") == true)
        #expect(
            code { try defaults.setPersistentDomain(["d": .data([UInt8](repeating: 2, count: 1 << 20 + 1))]) }
                == .tooLarge)
        #expect(try defaults.data(forKey: "data")?.first == 1)
    }

    @Test func sizesOfPartsAddUp() throws {
        let defaults = try sandbox { $0.maximumValueSize = 100 }.defaults
        try defaults.set(["a": Array(repeating: "12345678", count: 12)], forKey: "fits")
        #expect(code { try defaults.set(["a": Array(repeating: "12345678", count: 13)], forKey: "not") } == .tooLarge)
    }

    @Test func aSuiteIsNotLargerThanAllowed() throws {
        let sandbox = try sandbox()
        for index in 0..<4 {
            try sandbox.defaults.set([UInt8](repeating: UInt8(index), count: 1_000_000), forKey: "\(index)")
        }
        #expect(code { try sandbox.defaults.set([UInt8](repeating: 9, count: 1_000_000), forKey: "9") } == .tooLarge)
        // Larger than the limit of a record; every program of the group reads it with the same limit.
        #expect(try sandbox.again().persistentDomain().count == 4)
        #expect(try sandbox.other().ask("keys") == "4")
    }

    @Test func aValueThatReadersRefuseIsNotWritten() throws {
        let defaults = try sandbox().defaults
        var deep = PropertyListValue.bool(true)
        for _ in 0..<70 { deep = .array([deep]) }
        #expect(code { try defaults.set(deep, forKey: "deep") } == .unsafeStructure)
        #expect(code { try defaults.set(1, forKey: String(repeating: "k", count: 5000)) } == .unsafeStructure)
        let marks = "a" + String(repeating: "\u{301}", count: 40)
        #expect(code { try defaults.set(marks, forKey: "marks") } == .unsafeStructure)
        #expect(try defaults.persistentDomain().isEmpty)
    }
}
