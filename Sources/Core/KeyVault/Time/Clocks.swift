internal import Glibc
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// The time of day, for dates that are shown and never decide anything.
enum WallClock {
    /// Milliseconds since 1970.
    static func milliseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return UInt64(max(0, now.tv_sec)) * 1000 + UInt64(now.tv_nsec) / 1_000_000
    }
}

/// The time since the machine started, sleep included: nobody can set it, and a sleeping machine does not stay unlocked.
package enum BootClock {
    /// Milliseconds, `CLOCK_BOOTTIME` of clock_gettime(2).
    package static func milliseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        return UInt64(now.tv_sec) * 1000 + UInt64(now.tv_nsec) / 1_000_000
    }
}

/// Which start of the machine this is: random(4), `/proc/sys/kernel/random/boot_id`.
package struct BootID: Hashable, Sendable {
    let bytes: Bytes16

    /// This boot's id; `unknown` where the kernel does not tell.
    package static let current: BootID = {
        guard let file = try? Descriptor.openForReading(path: "/proc/sys/kernel/random/boot_id") else {
            return .unknown
        }
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            guard let count = try? file.read(into: buffer) else { return .unknown }
            return BootID(text: buffer[0..<count])
        }
    }()

    static let unknown = BootID(bytes: .zero)

    init(bytes: Bytes16) { self.bytes = bytes }

    /// 32 hexadecimal digits.
    package var text: String { bytes.hexadecimal }

    /// Whether both are surely the same start. Two unknown ones are not: what was noted under one counts as noted before
    /// a restart, which is the weaker claim and never a false one.
    func isSame(as other: BootID) -> Bool { self == other && self != .unknown }

    /// Reads 32 hexadecimal digits, with hyphens wherever they stand.
    private init(text: some Sequence<UInt8>) {
        let digits = text.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }.map(UInt8.init)
        guard digits.count == 32 else {
            self = .unknown
            return
        }
        bytes = Bytes16(filling: { output in
            for index in 0..<16 { output[index] = digits[2 * index] << 4 | digits[2 * index + 1] }
        })
    }
}

/// Where the wall clock stood at one moment, against the time since the machine started.
///
/// Nobody can set the time since the start. Added to the anchor it tells what the wall clock would show now if it had not
/// been set since, so a clock that is set back makes nothing young again before the next restart.
package struct ClockAnchor: Hashable, Sendable, Comparable {
    /// Wall clock minus `CLOCK_BOOTTIME`, in milliseconds; 0 means unknown.
    let milliseconds: Int64

    /// Nothing is known.
    package static let unknown = ClockAnchor(milliseconds: 0)

    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Of a wall clock that shows so many seconds since 1970 now. Rounded so that it is never ahead of that clock.
    package init(atMost seconds: Double) { self.init(seconds, .down, correction: -1) }

    /// The same, rounded so that it is never behind that clock.
    package init(atLeast seconds: Double) { self.init(seconds, .up, correction: 0) }

    /// What a header can hold, and far more than a clock shows; a clock that shows no number tells nothing.
    private static let range = -9e15...9e15

    private init(_ seconds: Double, _ rule: FloatingPointRoundingRule, correction: Int64) {
        let wall = (seconds * 1000).rounded(rule)
        guard wall.isFinite else {
            self = .unknown
            return
        }
        let clamped = Int64(min(max(wall, Self.range.lowerBound), Self.range.upperBound))
        let anchor = clamped - Int64(BootClock.milliseconds()) + correction
        milliseconds = anchor == 0 ? 1 + 2 * correction : anchor
    }

    package var isKnown: Bool { self != .unknown }

    /// Seconds since 1970 as that clock would show them now; nil where nothing is known.
    package var now: Double? {
        guard isKnown else { return nil }
        return (Double(milliseconds) + Double(BootClock.milliseconds())) / 1000
    }

    /// The later clock is the greater anchor; an unknown one is below all.
    package static func < (first: ClockAnchor, second: ClockAnchor) -> Bool {
        guard first.isKnown, second.isKnown else { return !first.isKnown && second.isKnown }
        return first.milliseconds < second.milliseconds
    }
}

/// Says once a second that it is time to look again; asking costs a few nanoseconds.
final class LookTimer: Sendable {
    private static let interval: UInt64 = 1_000_000_000
    private let last = Atomic<UInt64>(LookTimer.now())

    /// Whether a second has passed since this last said yes.
    func isDue() -> Bool {
        let now = Self.now()
        let then = last.load(ordering: .relaxed)
        guard now &- then >= Self.interval else { return false }
        return last.compareExchange(expected: then, desired: now, ordering: .relaxed).exchanged
    }

    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
