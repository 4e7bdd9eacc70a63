import CryptoPrimitives
import Testing

@testable import KeyVault

@Suite struct PassphraseCostsTests {
    /// Returns the costs for a machine with this rate in pass-KiB per second. Large memory may slow it down.
    private func chosen(
        for target: Duration, rate: Double, freeKiB: UInt64 = 1 << 30, slowdown: Double = 1
    ) throws -> PassphraseCosts {
        try CostCalibration(target: target, freeKiB: freeKiB) { costs in
            let slow = costs.memoryKiB > 64 * 1024 ? slowdown : 1
            return .seconds(Double(costs.passes) * Double(costs.memoryKiB) / rate * slow)
        }.run()
    }

    private func seconds(_ costs: PassphraseCosts, rate: Double) -> Double {
        Double(costs.passes * costs.memoryKiB) / rate
    }

    @Test(arguments: [0.1, 0.5, 1, 2, 5, 20] as [Double])
    func theAnswerTakesAboutAsLongAsAsked(target: Double) throws {
        let rate = 400.0 * 1024
        let costs = try chosen(for: .seconds(target), rate: rate)
        #expect(abs(seconds(costs, rate: rate) - target) < 0.34 * target)
    }

    @Test func memoryIsPreferredToPasses() throws {
        let costs = try chosen(for: .seconds(1), rate: 600 * 1024)
        #expect(costs.passes == 3 && costs.memoryKiB == 200 * 1024)
    }

    @Test func insufficientMemoryIsReplacedByPasses() throws {
        let costs = try chosen(for: .seconds(1), rate: 600 * 1024, freeKiB: 4 * 60 * 1024)
        #expect(costs.memoryKiB == 60 * 1024 && costs.passes == 10)
    }

    @Test func largeMemoryThatIsSlowerIsCorrectedOnce() throws {
        let costs = try chosen(for: .seconds(1), rate: 600 * 1024, slowdown: 2)
        #expect(costs.passes == 3 && costs.memoryKiB == 100 * 1024)
    }

    @Test(arguments: [(1e-9, 1.0), (60, 1e15)] as [(Double, Double)])
    func theBoundsHoldRegardlessOfTheMachine(target: Double, rate: Double) throws {
        let costs = try chosen(for: .seconds(target), rate: rate)
        #expect(throws: Never.self) { try costs.parameters.validateForCreation() }
    }

    @Test func aMachineWithoutFreeMemoryStillGetsTheLeast() throws {
        let costs = try chosen(for: .seconds(1), rate: 100 * 1024, freeKiB: 0)
        #expect(costs.memoryKiB == 19 * 1024)
        #expect(throws: Never.self) { try costs.parameters.validateForCreation() }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(61)])
    func anInvalidTimeIsRefused(target: Duration) {
        #expect(
            code { () throws(VaultError) in _ = try PassphraseCosts.calibrated(for: target) } == .invalidArgument)
    }

    @Test func thisMachineCanBeCalibrated() throws {
        let costs = try PassphraseCosts.calibrated(for: .milliseconds(20))
        #expect(throws: Never.self) { try costs.parameters.validateForCreation() }
    }

    @Test func costsOutsideTheBoundsAreNotTaken() {
        for (passes, memory) in [
            (0, 65536), (1, 65536), (33, 65536), (3, 8192), (3, 19455), (3, 1_048_577), (-1, 65536), (3, -1),
            (.max, .max),
        ] {
            #expect(
                code { () throws(VaultError) in _ = try PassphraseCosts(passes: passes, memoryKiB: memory) }
                    == .invalidArgument)
        }
        #expect(throws: Never.self) { try PassphraseCosts(passes: 2, memoryKiB: 19456) }
    }

    @Test func availableMemoryIsRead() {
        let text = "MemTotal:       16384 kB\nMemFree:         1000 kB\nMemAvailable:   12345 kB\n"
        #expect(FreeMemory.available(in: text) == 12345)
        #expect(FreeMemory.available(in: "MemTotal: 1 kB\n") == nil)
        #expect(FreeMemory.kibibytes() > 0)
    }
}
