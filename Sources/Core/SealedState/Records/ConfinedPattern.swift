internal import Synchronization

/// A regex that several threads use, each one of its own.
///
/// A match can take long, so nothing is locked meanwhile: a thread takes a compiled regex out of the spare ones, or makes
/// one, and puts it back.
final class ConfinedPattern<Output>: Sendable {
    /// The most that are kept: as many threads match at once without making one anew.
    private static var capacity: Int { 8 }

    /// It is out of the spare ones while it is used: one thread at a time has it.
    private final class Compiled: @unchecked Sendable {
        let regex: Regex<Output>
        init(_ regex: Regex<Output>) { self.regex = regex }
    }

    private let spare = Mutex<[Compiled]>([])
    private let make: @Sendable () -> Regex<Output>

    init(_ make: @escaping @Sendable () -> Regex<Output>) { self.make = make }

    /// Whether all of a text fits; a pattern that fails while it runs fits nothing.
    func matchesWhole(_ text: some StringProtocol) -> Bool {
        let pattern = spare.withLock { $0.popLast() } ?? Compiled(make())
        defer {
            spare.withLock { spare in
                if spare.count < Self.capacity { spare.append(pattern) }
            }
        }
        return (try? pattern.regex.wholeMatch(in: String(text))) != nil
    }
}
