import Glibc
import SharedFiles
import Synchronization
import Testing

@Suite("ClockMonitor", .timeLimit(.minutes(2)))
struct ClockMonitorTests {
    private final class AlarmSignal: Sendable {
        private let count = Atomic(0)
        var rings: Int { count.load(ordering: .sequentiallyConsistent) }
        func ring() { count.add(1, ordering: .sequentiallyConsistent) }

        func wait(for rings: Int) async throws {
            while self.rings < rings { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    @Test func anEarlierAlarmIsNotHeldUpByALaterOne() async throws {
        let (late, early) = (AlarmSignal(), AlarmSignal())
        let clock = try ClockMonitor.shared()
        let first = clock.register { late.ring() }
        first.ring(in: 1e9)
        let second = clock.register { early.ring() }
        second.ring(in: 0.05)
        try await early.wait(for: 1)
        second.ring(in: -5)
        try await early.wait(for: 2)
        withExtendedLifetime((first, second)) {}
    }

    @Test func anEndedRegistrationIsSilent() async throws {
        let (ended, other) = (AlarmSignal(), AlarmSignal())
        let clock = try ClockMonitor.shared()
        var registration: ClockRegistration? = clock.register { ended.ring() }
        registration?.ring(in: 1e6)
        registration = nil
        let last = clock.register { other.ring() }
        let before = ended.rings
        last.ring(in: 0.05)
        try await other.wait(for: 1)
        #expect(ended.rings == before)
        withExtendedLifetime(last) {}
    }

    // test    | sets the clock | sets an alarm: the kernel would drop the undelivered clock event
    // monitor |                |                                                            | gets it
    @Test(.enabled(if: SystemClock.canBeSet)) func aClockThatIsSetJustBeforeAnAlarmIsNoticed() async throws {
        let alarmSignal = AlarmSignal()
        let registration = try ClockMonitor.shared().register { alarmSignal.ring() }
        for round in 0..<50 {
            let before = alarmSignal.rings
            SystemClock.set()
            registration.ring(in: 1e6 - Double(round))
            try await alarmSignal.wait(for: before + 1)
        }
    }
}
