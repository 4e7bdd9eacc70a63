internal import Glibc
internal import SharedFiles
internal import Synchronization

/// What one purpose holds in a domain: every access of one coordinator, or of all coordinators made with one presenter.
///
/// All of it hangs on one open description of the lock file, so accesses of one purpose never wait for each other, also
/// nested ones, and a reader that becomes a writer keeps its range while it changes the mode. It waits for others only.
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

    /// Takes all slots or none of them: while it waits it holds nothing new, so two that want the same slots in opposite
    /// order can't wait for each other.
    ///
    /// - Throws: `lockTimeout`, `cancelled`, `lockFileReplaced` (also where the domain's directory is another one now), or what opening the lock file gave.
    func acquire(_ slots: ItemSlots, _ limit: WaitLimit, _ path: String) throws(FileError) {
        var wait = LockWait(timeout: limit.remaining, isCancelled: limit.isCancelled)
        if try attempt(slots) { return }
        Self.crowd.add(1, ordering: .relaxed)
        defer { Self.crowd.subtract(1, ordering: .relaxed) }
        repeat {
            try wait.step(.lockTimeout, path)
            let extra = Self.crowd.load(ordering: .relaxed) / 4
            if extra > 0 { pause(min(.milliseconds(extra), limit.remaining)) }
        } while try !attempt(slots)
    }

    /// How many threads of this process wait. A few look a thousand times in a second each; more of them share that, or they
    /// would leave no processor to who holds the lock.
    private static let crowd = Atomic(0)

    /// - Returns: false when somebody holds one of them.
    func attempt(_ slots: ItemSlots) throws(FileError) -> Bool {
        try state.withLock { (state) throws(FileError) in
            // Only a member that keeps replacing the file can make one round follow another.
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
                // On a file without its name we exclude nobody who opens it now.
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

    /// Whether this purpose writes the item now, or removes or moves a directory that it lies in.
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

    /// Makes the kernel's lock what the counts say. Less than before is never refused.
    private func settle(_ slot: UInt64, _ state: inout State) {
        if let mode = state.counts[slot]?.mode {
            _ = set(slot, mode, state)
        } else if let file = state.file {
            ByteRangeLock.release(file.descriptor.rawValue, LockRange(slot: slot))
        }
    }

    /// Under a directory that was removed or replaced we exclude nobody who opens the domain now.
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

/// One description of the lock file, which carries every range of a purpose.
private final class OpenLockFile: Sendable {
    let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
}

/// The byte ranges that stand for accesses, with the mode of each.
///
/// An item has two slots. Its own: shared for its readers, exclusive for its writer. And that of its tree: shared for
/// whoever uses something below it, exclusive for who deletes, moves or replaces it. So a writer of a directory's content
/// and one of a file in it do not meet, and nobody moves the directory away under either.
///
/// A slot is a hash. Two items that share one wait for each other; that costs time and nothing else, since one access
/// takes a slot once only, with the stricter mode.
struct ItemSlots: Sendable {
    private(set) var modes: [UInt64: LockMode] = [:]

    /// - Parameter scope: up to where directories above are taken.
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

    /// FNV-1a with 64 bits, the same in every process, cut to what a lock range can hold. Not a keyed hash: who chooses
    /// names that collide wins nothing but waiting, which a holder of a lock can impose anyway.
    static func slot(of item: ItemPath, _ part: Part) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        mix(part.rawValue)
        item.string.utf8.forEach(mix)
        return (hash ^ hash >> 32) & 0x3FFF_FFFF_FFFF_FFFF
    }
}
