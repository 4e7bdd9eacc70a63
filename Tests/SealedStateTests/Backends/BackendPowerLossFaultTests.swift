import AppGroups
import SealedBackends
import TestSupport
import Testing

/// Recorded runs on a disk that loses power at each moment: what was acknowledged as durable is there.
///
/// `SimulatedDisk` states which writes a loss of power may take back.
@Suite(
    .enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(60)))
struct BackendPowerLossFaultTests {
    /// A recorded run of a writer.
    struct Run: Sendable, CustomTestStringConvertible {
        let kind: BackendSandbox.Kind
        let durability: String
        /// The number of times that the backend is opened at once; the last one writes.
        var openings = 1
        var batches = isLongForm ? 200 : 40

        var testDescription: String { "\(kind), \(durability), \(openings) openings" }
    }

    static let runs: [Run] =
        [Run(kind: .files, durability: "durable")]
        + (BackendSandbox.kinds.contains(.sqlite)
            ? [
                Run(kind: .sqlite, durability: "durable"), Run(kind: .sqlite, durability: "mixed"),
                Run(kind: .sqlite, durability: "durable", openings: 2, batches: 5),
                Run(kind: .sqlite, durability: "unsynced"),
            ] : [])

    @Test(arguments: runs) func durableBatchesSurvive(_ run: Run) throws {
        let seed = UInt64.random(in: .min ... .max)
        let losses = try Self.losses(of: run, samples: isLongForm ? 4000 : 250, seed: seed)
        #expect(losses.tried > 20 && losses.found == [], "seed \(seed)")
    }

    /// The simulation finds missing syncs of contents, and of names.
    @Test(arguments: BackendSandbox.kinds, [SimulatedDisk.Sync.contents, .names])
    func missingSyncsAreFound(_ kind: BackendSandbox.Kind, _ ignored: SimulatedDisk.Sync) throws {
        let seed = UInt64.random(in: .min ... .max)
        let run = Run(kind: kind, durability: "durable", batches: 40)
        let losses = try Self.losses(of: run, samples: 400, ignoring: ignored, seed: seed)
        #expect(losses.found.count > 10, "seed \(seed)")
    }

    /// Records a run, and loses power at random moments of it.
    private static func losses(
        of run: Run, samples: Int, ignoring ignored: SimulatedDisk.Sync? = nil, seed: UInt64
    ) throws -> (tried: Int, found: [String]) {
        let sandbox = try BackendSandbox(run.kind)
        var disk = try SimulatedDisk(sandbox.fixture.container)
        let traced = sandbox.traced(
            "backend-batches", "1", "\(run.batches)", "\(run.kind.keys)", run.durability, "\(run.openings)",
            showingContents: true)
        defer { traced.removeLog() }
        let output = try traced.run().outputText.split(separator: "\n")
        #expect(BackendSandbox.last(output, ["durable", "unsynced"]) == run.batches)
        let recorded = try RecordedCalls(log: sandbox.fixture.place.path + ".trace")
        var random = SeededGenerator(seed: seed)
        var (tried, found) = (0, [String]())
        let rate = Double(samples) / Double(recorded.count)
        try disk.replay(recorded, ignoring: ignored) { disk, lines in
            for _ in 0..<Int(rate + Double.random(in: 0..<1, using: &random)) {
                let acknowledged = BackendSandbox.last(lines, ["durable"])
                let started = BackendSandbox.last(lines, ["durable", "unsynced"]) + 1
                tried += 1
                if let loss = try loss(disk, run, acknowledged...started, &random) { found.append(loss) }
            }
        }
        return (tried, found)
    }

    /// Returns the fault after a loss of power: another number than the expected ones, parts of two batches, or a
    /// backend that cannot be opened.
    private static func loss(
        _ disk: SimulatedDisk, _ run: Run, _ expected: ClosedRange<Int>, _ random: inout SeededGenerator
    ) throws -> String? {
        let fixture = try StoreFixture("group.com.example.backend")
        _ = try GroupContainer.open(fixture.group, in: fixture.home)
        try FileTree.remove(fixture.container)
        try fixture.place.directory("Containers/\(fixture.group)")
        try disk.losePower(into: fixture.container, using: &random)
        do {
            let backend = try BackendSandbox.open(run.kind, in: fixture.home, fixture.group)
            let number = try BackendSandbox.batch(in: backend, keys: run.kind.keys)
            return expected.contains(number) ? nil : "\(number), not \(expected)"
        } catch { return "\(expected): \(error)" }
    }
}
