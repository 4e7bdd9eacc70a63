import Glibc
import SealedState
import TestSupport
import Testing

/// Tests of a writer that is killed at any system call: the old or the new value remains, the next write removes
/// litter.
@Suite(
    .enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(30)))
struct CrashFaultTests {
    /// A kind of write during which the writer is killed.
    struct Variant: Sendable, CustomTestStringConvertible {
        let size: Int
        let durability: String
        /// The first write of this name makes two directories.
        var isNested = false
        /// A Boolean value: the writer is also killed at calls that change nothing and during its start.
        var isWhole = isLongForm

        var testDescription: String { "\(size) bytes, \(durability)\(isNested ? ", nested" : "")" }
    }

    static let variants: [Variant] = [
        Variant(size: 100, durability: "durable"), Variant(size: 200_000, durability: "unsynced"),
        Variant(size: 100, durability: "durable", isNested: true),
    ]
    static let more: [Variant] = [
        Variant(size: 100, durability: "unsynced"), Variant(size: 200_000, durability: "durable"),
        Variant(size: 200_000, durability: "unsynced", isNested: true),
    ]

    @Test(arguments: isLongForm ? variants + more : variants)
    func killingAWriterAtEverySystemCallLeavesOldOrNew(_ variant: Variant) throws {
        let fixture = try StoreFixture()
        #expect(try write(1, variant, "", fixture) == "written 1")
        var outcomes: Set<Bool> = []
        var unreached = 0
        let calls = try calls(variant, fixture)
        for (index, call) in calls.enumerated() {
            // A nested name is a new one each time, so its old value is absent.
            let name = variant.isNested ? "n\(index)/nested/probe" : "probe"
            let old = variant.isNested ? "absent" : try fixture.probe("store-read", name)
            let oldSequence = UInt64(old.split(separator: " ").last ?? "") ?? 0
            let traced = fixture.traced(["store-write", "9\(index)", "\(variant.size)", variant.durability, name])
            defer { traced.removeLog() }
            let killed = try traced.run(killedAt: call)
            // A write that maps fewer pages than the undisturbed one ends before its last calls.
            if killed.status == .exited(0) {
                unreached += 1
            } else {
                #expect(killed.status == .signalled(SIGKILL), "\(call)")
            }
            let found = try fixture.probe("store-read", name)
            let new = "9\(index) \(variant.size) \(oldSequence + 1)"
            #expect([old, new].contains(found), "\(call)")
            // An acknowledged write is kept.
            if killed.outputText.contains("written") { #expect(found == new, "\(call)") }
            outcomes.insert(found == new)

            let next = oldSequence + (found == new ? 2 : 1)
            #expect(try write(index, variant, name, fixture) == "written \(next)", "\(call)")
            #expect(try fixture.staleFiles() == [], "\(call)")
        }
        #expect(unreached <= max(2, calls.count / 50))
        // Both outcomes occurred, so the sweep crossed the rename.
        #expect(outcomes == [true, false])
    }

    private func write(_ number: Int, _ variant: Variant, _ name: String, _ fixture: StoreFixture) throws -> String {
        let record = name.isEmpty ? "probe" : name
        return try fixture.probe("store-write", "\(number)", "\(variant.size)", variant.durability, record)
    }

    /// Returns the calls of an undisturbed write of the same kind, from the first that touches the container after
    /// opening it.
    private func calls(_ variant: Variant, _ fixture: StoreFixture) throws -> [TracedProcess.Call] {
        let name = variant.isNested ? "before/nested/probe" : "probe"
        let traced = fixture.traced(["store-write", "2", "\(variant.size)", variant.durability, name])
        defer { traced.removeLog() }
        #expect(try traced.run().outputText.hasPrefix("written"))
        let calls = try traced.calls(from: variant.isWhole ? nil : ".sealedstate.lock")
        #expect(Set(calls.map(\.name)).isSuperset(of: ["write", "renameat", "linkat"]))
        let isFirst = variant.size == 100 && variant.durability == "durable" && !variant.isNested
        return calls.filter { $0.name != "execve" && (variant.isWhole || isFirst || $0.isChange) }
    }

    @Test func killingAWriterAtRandomLosesNothingThatWasAcknowledged() throws {
        // writer:  write 1, say 1, write 2, say 2, ... killed     (twenty times)
        // reader:  read, read, read, ..... whole values, and never an older one
        let fixture = try StoreFixture()
        let store = try fixture.open()
        try store.write(ProbeRecord(number: 0, text: String(repeating: "x", count: Self.loopSize)))
        let rounds = isLongForm ? 400 : 20
        let results = try concurrently(2) { index in
            if index == 0 { try killWriters(rounds, fixture, store) } else { try watch(store) }
        }
        for result in results { try result.get() }
        #expect(try fixture.staleFiles() == [])
    }

    private static let loopSize = 20_000
    private static let isOver = "over"

    private func killWriters(_ rounds: Int, _ fixture: StoreFixture, _ store: SealedStore) throws {
        for round in 0..<rounds {
            let writer = try ChildProcess(
                "sealed-probe", ["store-write-loop", fixture.place.path, fixture.group.identifier, "\(Self.loopSize)"])
            var acknowledged = try #require(try writer.readLine())
            usleep(UInt32(round * 1371 % 15_000))
            writer.kill(SIGKILL)
            let rest = try writer.finish().outputText.split(separator: "\n", omittingEmptySubsequences: false)
            if rest.count > 1 { acknowledged = String(rest[rest.count - 2]) }
            let number = try #require(Int(acknowledged.split(separator: " ")[1]))
            let found = try store.read(ProbeRecord.self)
            // At most one more: the write that was not acknowledged.
            #expect((number...number + 1).contains(found.number))
        }
        // The next write removes what the last killed writer may have left.
        try store.write(ProbeRecord(number: 1 << 30, text: String(repeating: "x", count: Self.loopSize)))
        try store.write(ProbeRecord(number: 0), named: Self.isOver)
    }

    private func watch(_ store: SealedStore) throws {
        var last: (number: Int, sequence: UInt64) = (0, 0)
        while store.readIfValid(ProbeRecord.self, named: Self.isOver) == nil {
            let snapshot = try store.snapshot(of: ProbeRecord.self)
            #expect(snapshot.value.text.utf8.count == Self.loopSize)
            #expect(snapshot.value.number >= last.number)
            #expect(snapshot.provenance.sequence >= last.sequence)
            last = (snapshot.value.number, snapshot.provenance.sequence)
        }
    }
}
