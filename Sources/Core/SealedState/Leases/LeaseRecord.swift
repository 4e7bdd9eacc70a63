internal import KeyVault

/// Who holds a lease and until when, as a sealed record of the store's own.
struct LeaseRecord: SealedRecord, Equatable {
    static let recordName = "lease"
    static let schemaVersion = 1

    enum State: String, Codable, Sendable {
        case held, completed, failed
    }

    /// The fence of the last holder; it only ever grows.
    var number: UInt64
    var state: State
    /// The fence of the last holder that finished its work; 0 for none.
    var lastCompleted: UInt64
    /// When the lease ends: milliseconds of `CLOCK_BOOTTIME`, which nobody can set and which runs while the machine sleeps.
    var endsAt: UInt64
    /// The boot that `endsAt` counts in; a lease of an earlier one has ended.
    var boot: String
    /// For messages only: the number may belong to another process by now.
    var processID: Int32

    static let maximumNumber: UInt64 = 1 << 62

    /// Refuses what no program of ours writes: a key holder could otherwise use up the fences with one record. A fence
    /// starts as the sequence of the write that took the lease, and runs ahead of it by little.
    func requirePlausible(sequence: UInt64) throws(StoreError) {
        let (limit, overflow) = sequence.addingReportingOverflow(1 << 20)
        guard overflow || number <= limit, number < Self.maximumNumber, lastCompleted <= number else {
            throw StoreError(.invalid, "read the lease", "its record", "Its fences do not fit its sequence.")
        }
    }

    /// Whether its time is not up; that its holder lives is another question.
    func isRunning(at moment: LeaseMoment) -> Bool {
        state == .held && boot == moment.boot && moment.milliseconds < endsAt
    }

    /// How long it runs still.
    func remaining(at moment: LeaseMoment) -> Duration {
        isRunning(at: moment) ? .milliseconds(endsAt - moment.milliseconds) : .zero
    }
}

/// A point in time that only a restart takes back.
struct LeaseMoment {
    let boot: String
    let milliseconds: UInt64

    static var now: LeaseMoment { LeaseMoment(boot: BootID.current.text, milliseconds: BootClock.milliseconds()) }

    func adding(_ duration: Duration) -> UInt64 {
        // Thirty thousand years are as good as any longer time.
        milliseconds &+ UInt64(min(max(1, duration.seconds * 1000), 1e15).rounded(.up))
    }
}
