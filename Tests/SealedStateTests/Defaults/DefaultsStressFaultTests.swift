import SealedState
import TestSupport
import Testing

/// Tests with two writers and a watcher; `SEALED_LONG` sets their duration.
@Suite("SealedDefaults under stress", .timeLimit(.minutes(60))) struct DefaultsStressFaultTests {
    let sandbox: DefaultsSandbox
    var defaults: SealedDefaults { sandbox.defaults }

    init() throws { sandbox = try DefaultsSandbox() }

    // first:   set a0 = …, a1, a2 … : each a change of its own     | all acknowledged
    // second:  set b0, b1, b2 …                                    | all acknowledged
    // watcher: notified of keys, reads them … has the last value of every key
    @Test func twoProcessesWriteDifferentKeysAndNothingIsLost() throws {
        let (keys, writes) = (50, isLongForm ? 5000 : 400)
        let words = [sandbox.fixture.place.path, sandbox.fixture.group.identifier]
        let watcher = try ChildProcess(
            "sealed-probe", ["defaults-watch"] + words + ["\(keys)", "\(writes)", "a", "b"])
        #expect(try watcher.readLine() == "ready")
        let writers = try ["a", "b"].map { prefix in
            try ChildProcess("sealed-probe", ["defaults-count"] + words + [prefix, "\(keys)", "\(writes)"])
        }
        for writer in writers {
            for number in stride(from: 100, through: writes, by: 100) {
                #expect(try writer.readLine(timeLimit: .seconds(1500)) == "acknowledged \(number)")
            }
        }
        #expect(try watcher.readLine(timeLimit: .seconds(600)) == "all")
        let values = try defaults.persistentDomain()
        #expect(values.count == 2 * keys)
        for number in (writes - keys + 1)...writes {
            for prefix in ["a", "b"] { #expect(values["\(prefix)\(number % keys)"] == .integer(Int64(number))) }
        }
        // Each change has its own sequence; none was lost.
        let listing = try #require(try sandbox.store.list(includingReserved: true).first)
        #expect(listing.provenance?.sequence == UInt64(2 * writes))
    }
}
