internal import Glibc
internal import SharedFiles
internal import Synchronization

/// The locks that one purpose holds in a domain: those of one coordinator, or of all coordinators of one presenter.
///
/// All locks belong to one open description of the lock file. Accesses of one purpose, nested ones included, therefore
/// never wait for each other, and a reader that becomes a writer keeps its range while the mode changes.
final class Claims: Sendable {
    private let domain: CoordinationDomain
    private let state = Mutex(State())

    private struct State {
        var file: OpenLockFile?
        var counts: [UInt64: Count] = [:]
    }

    private struct Count {
        var shared = 0
        var exclusive = 0
        var mode: LockMode? { exclusive > 0 ? .exclusive : shared > 0 ? .shared : nil }

        mutating func change(_ mode: LockMode, by step: Int) {
            if mode == .exclusive { exclusive += step } else { shared += step }
        }
    }

    init(domain: CoordinationDomain) { self.domain = domain }

    /// Takes all slots or none. It holds no new slot while it waits, so two callers that want the same slots in
    /// opposite order can't deadlock.
    ///
    /// - Throws: `lockTimeout`, `cancelled`, `lockFileReplaced` (also if the domain's directory was replaced), or the
    ///   error of opening the lock file.
    func acquire(_ slots: ItemSlots, _ limit: WaitLimit, _ path: String) throws(FileError) {
        var wait = LockWait(timeout: limit.remaining, isCancelled: limit.isCancelled)
        if try attempt(slots) { return }
        Self.waiterCount.add(1, ordering: .relaxed)
        defer { Self.waiterCount.subtract(1, ordering: .relaxed) }
        repeat {
            try wait.step(.lockTimeout, path)
            let extra = Self.waiterCount.load(ordering: .relaxed) / 4
            if extra > 0 { pause(min(.milliseconds(extra), limit.remaining)) }
        } while try !attempt(slots)
    }

    /// The number of waiting threads of this process. Each retries about a thousand times a second while there are few;
    /// a larger number retries less often, so that the lock holder still gets a processor.
    private static let waiterCount = Atomic(0)

    /// - Returns: `false` if another purpose holds one of the slots.
    func attempt(_ slots: ItemSlots) throws(FileError) -> Bool {
        try state.withLock { (state) throws(FileError) in
            // Only a member that keeps replacing the file can cause another round.
            for _ in 0..<32 {
                if state.file == nil { state.file = OpenLockFile(try domain.openLockFile()) }
                guard try take(slots, &state) else {
                    closeIfIdle(&state)
                    return false
                }
                if isNamed(state) {
                    try requireInPlace(slots, &state)
                    for (slot, mode) in slots.modes { state.counts[slot, default: Count()].change(mode, by: 1) }
                    return true
                }
                // A lock on a file that lost its name excludes no process that opens the lock file now.
                for slot in slots.modes.keys { settle(slot, &state) }
                if !state.counts.isEmpty { break }
                state.file = nil
            }
            throw FileError(.lockFileReplaced, operation: "coordinate", path: domain.lockPath)
        }
    }

    func release(_ slots: ItemSlots) {
        state.withLock { state in
            for (slot, mode) in slots.modes {
                state.counts[slot, default: Count()].change(mode, by: -1)
                if state.counts[slot]?.mode == nil { state.counts[slot] = nil }
                settle(slot, &state)
            }
            closeIfIdle(&state)
        }
    }

    var isHolding: Bool { state.withLock { !$0.counts.isEmpty } }

    /// Returns whether this purpose currently writes the item, or removes or moves a directory that contains it.
    func isWriting(_ item: ItemPath) -> Bool {
        let slots =
            [ItemSlots.slot(of: item, .item)] + item.ancestors(upTo: domain.scope).map { ItemSlots.slot(of: $0, .tree) }
        return state.withLock { state in slots.contains { state.counts[$0]?.mode == .exclusive } }
    }

    private func take(_ slots: ItemSlots, _ state: inout State) throws(FileError) -> Bool {
        var taken: [UInt64] = []
        for (slot, mode) in slots.modes.sorted(by: { $0.key < $1.key }) {
            let held = state.counts[slot]?.mode
            if held == .exclusive || held == mode { continue }
            let result = set(slot, mode, state)
            if result >= 0 {
                taken.append(slot)
                continue
            }
            for slot in taken { settle(slot, &state) }
            if result == -EAGAIN { return false }
            throw FileError(errno: -result, operation: "take the lock", path: domain.lockPath)
        }
        return true
    }

    private func set(_ slot: UInt64, _ mode: LockMode, _ state: State) -> Int32 {
        guard let file = state.file else { return -EBADF }
        return ByteRangeLock.attempt(file.descriptor.rawValue, LockRange(slot: slot), mode)
    }

    /// Sets the kernel's lock to the counted mode. The kernel never refuses a downgrade.
    private func settle(_ slot: UInt64, _ state: inout State) {
        if let mode = state.counts[slot]?.mode {
            _ = set(slot, mode, state)
        } else if let file = state.file {
            ByteRangeLock.release(file.descriptor.rawValue, LockRange(slot: slot))
        }
    }

    /// A lock in a directory that was removed or replaced excludes no process that opens the domain now.
    private func requireInPlace(_ slots: ItemSlots, _ state: inout State) throws(FileError) {
        do throws(FileError) {
            try domain.requireInPlace()
        } catch {
            for slot in slots.modes.keys { settle(slot, &state) }
            closeIfIdle(&state)
            throw error
        }
    }

    private func isNamed(_ state: State) -> Bool {
        guard let file = state.file else { return false }
        return LockFile.isNamed(file.descriptor, CoordinationDomain.lockName, in: domain.directory)
    }

    private func closeIfIdle(_ state: inout State) {
        if state.counts.isEmpty { state.file = nil }
    }
}

/// An open description of the lock file, which carries every range of a purpose.
private final class OpenLockFile: Sendable {
    let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
}

/// The byte ranges that represent accesses, each with its mode.
///
/// An item has two slots. Its own slot is shared for its readers and exclusive for its writer. Its tree slot is shared
/// for accesses to items inside it and exclusive for deleting, moving or replacing it. A writer of a directory's
/// content and a writer of a file in it therefore don't wait for each other, and neither loses the directory meanwhile.
///
/// A slot is a hash. Two items that share one wait for each other. That costs only time, since one access takes a slot
/// only once, with the stricter mode.
struct ItemSlots: Sendable {
    private(set) var modes: [UInt64: LockMode] = [:]

    /// - Parameter scope: the topmost directory whose tree slot is taken.
    mutating func add(_ item: ItemPath, _ access: FileAccessIntent.Access, scope: ItemPath?) {
        for above in item.ancestors(upTo: scope) { take(Self.slot(of: above, .tree), .shared) }
        switch access {
        case .reading: take(Self.slot(of: item, .item), .shared)
        case .writing(let purpose):
            take(Self.slot(of: item, .item), .exclusive)
            if purpose.isStructural { take(Self.slot(of: item, .tree), .exclusive) }
        }
    }

    private mutating func take(_ slot: UInt64, _ mode: LockMode) {
        if modes[slot] != .exclusive { modes[slot] = mode }
    }

    enum Part: UInt8 {
        case item = 0x69
        case tree = 0x74
    }

    /// FNV-1a with 64 bits, the same in every process, cut to the size of a lock range. The hash needs no key: an
    /// attacker who chooses colliding names gains only waiting time, which any lock holder can impose anyway.
    static func slot(of item: ItemPath, _ part: Part) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        mix(part.rawValue)
        item.string.utf8.forEach(mix)
        return (hash ^ hash >> 32) & 0x3FFF_FFFF_FFFF_FFFF
    }
}
