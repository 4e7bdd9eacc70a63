public import AppGroups
internal import SharedFiles

/// Memory that the programs of an app group share, of a fixed size.
///
/// The memory exists in the kernel like a ``GroupSemaphore``. No file is mapped, so no process can shorten it: a member
/// can make its contents invalid, but never terminate a program that reads them.
///
/// ```swift
/// let memory = try GroupSharedMemory("position", in: container, capacity: 256)
/// try memory.write(bytes)                  // one whole value, or none
/// let latest = try memory.read()           // never a mixture of two; nil before the first write
/// ```
///
/// Contents are as readable as the container: see `SealedSharedMemory` of the store for contents that only holders of
/// the group's key may read.
public final class GroupSharedMemory: Sendable {
    /// The memory's content.
    public enum Layout: Sendable, Hashable {
        /// A single value of at most `capacity` bytes, replaced as a whole.
        case value
        /// Bytes in the programs' own order.
        case bytes
    }

    /// The memory's name.
    public let name: GroupIPCName
    /// The memory's content.
    public let layout: Layout
    /// The size of the longest value in bytes.
    public var capacity: Int { plan.capacity }

    private let place: IPCPlace
    private let kernel: KernelSegment
    private let segment: AttachedSegment
    private let plan: SegmentLayout

    /// The stamp that distinguishes this memory from a newer one under the same name.
    package let identity: [UInt8]

    /// The number of copies of a changing value before the reader takes the writers' lock.
    private static let freeAttempts = 64

    /// Opens memory, and creates it, all zeros, if it is missing.
    ///
    /// - Parameters:
    ///   - name: The name within the group; see ``GroupIPCName``.
    ///   - container: The group's container. Its users may read and write the memory.
    ///   - capacity: Bytes, 1 to 2^30; nil opens existing memory of any size, and creates none.
    ///   - layout: The memory's content.
    ///   - creating: Whether to create it. With `false` nothing is written.
    /// - Throws: ``AppGroupError`` as `GroupSemaphore.init`; `ipcMismatch` if it has another capacity or layout;
    ///   `messageTooLarge` for a capacity out of range.
    public init(
        _ name: String, in container: GroupContainer, capacity: Int?, layout: Layout = .value, creating: Bool = true
    ) throws(AppGroupError) {
        self.name = try GroupIPCName(name, in: container.group)
        self.layout = layout
        let creating = creating && capacity != nil
        guard let bytes = UInt64(exactly: capacity ?? 1), SegmentLayout.capacities.contains(bytes) else {
            throw Self.tooLarge(
                self.name, "\(capacity ?? 0) bytes are not between 1 and \(SegmentLayout.capacities.upperBound)")
        }
        let found = try container.openSegment(
            self.name, layout == .value ? .values : .bytes, capacity: capacity == nil ? nil : bytes, creating: creating)
        place = found.place
        kernel = found.kernel
        plan = found.plan
        identity = found.stamp
        switch AttachedSegment.attach(found.kernel) {
        case .success(let attached): segment = attached
        case .failure(let error): throw AppGroupError.kernel(error.number, "open", self.name)
        }
        // The object that was found may have been removed, and its number reused, before it was attached.
        guard segment.memory.count == Int(plan.size), segment.stamp == found.stamp else {
            throw AppGroupError.kernel(removedNumber, "open", self.name)
        }
    }

    /// Removes memory for all processes: open ones get `ipcRemoved`, and the next opening creates a new one.
    ///
    /// - Throws: as `GroupSemaphore.unlink`.
    public static func unlink(_ name: String, in container: GroupContainer) throws(AppGroupError) {
        try container.unlink(.values, name)
    }

    private static func tooLarge(_ name: GroupIPCName, _ reason: String) -> AppGroupError {
        .ipc(.messageTooLarge, "use", name.description, reason, "Share less, or create it with a larger size.")
    }
}

// MARK: Values

extension GroupSharedMemory {
    /// Replaces the value. A reader gets the old one or this one, even if the writer is killed at any point.
    ///
    /// - Parameter timeout: The time limit for waiting for another writer.
    /// - Throws: ``AppGroupError`` with `messageTooLarge`, `ipcRemoved`, `timeout`; `ipcMismatch` for memory of bytes.
    public func write(_ value: [UInt8], timeout: Duration = .seconds(10)) throws(AppGroupError) {
        try replace(timeout) { _ in value }
    }

    /// Returns the value; nil before the first write.
    ///
    /// The result is a copy, which later writes do not change. The call takes no lock, unless the value changes faster
    /// than it can be copied; then it waits for the writers.
    /// - Throws: ``AppGroupError`` with `ipcRemoved`; `ipcDamaged` if a member wrote an invalid value; `timeout`;
    ///   `ipcMismatch` for memory of bytes.
    public func read(timeout: Duration = .seconds(10)) throws(AppGroupError) -> [UInt8]? {
        try requireUsable(.value, "read")
        for _ in 0..<Self.freeAttempts {
            if let copy = try copyOnce() { return copy.value }
        }
        return try place.locked("read", timeout) { () throws(AppGroupError) in
            if let copy = try copyOnce() { return copy.value }
            throw damaged("it was changed without its lock")
        }
    }

    /// Reads the value and writes the next one, under the writers' lock.
    ///
    /// - Parameter change: Gets the value, nil before the first write. If it returns nil, nothing is written.
    package func replace(
        _ timeout: Duration, isCancelled: (() -> Bool)? = nil, _ change: ([UInt8]?) -> [UInt8]?
    ) throws(AppGroupError) {
        try requireUsable(.value, "write")
        try place.locked("write", timeout, isCancelled: isCancelled) { () throws(AppGroupError) in
            // An invalid value does not prevent a writer from replacing it.
            guard let value = change((try? copyOnce())?.value) else { return }
            guard value.count <= capacity else {
                throw Self.tooLarge(name, "the value has \(value.count) bytes and the capacity is \(capacity)")
            }
            try requireUsable(.value, "write")
            put(value)
        }
    }

    private func put(_ value: [UInt8]) {
        // 0 means no value at all.
        let generation = segment.load(SegmentLayout.generationOffset)
        let next = generation == .max ? 2 : generation + 1
        // A reader that sees any of the following stores must also see this generation, not the one before it, whose
        // slot this is.
        segment.fence()
        segment.store(UInt64(value.count), plan.lengthOffset(next))
        UnsafeMutableRawBufferPointer(rebasing: segment.memory[plan.slotOffset(next)...]).copyBytes(from: value)
        segment.fence()
        segment.store(next, SegmentLayout.generationOffset)
    }

    /// Returns one whole value; nil if it changed meanwhile.
    private func copyOnce() throws(AppGroupError) -> (value: [UInt8]?, Void)? {
        let generation = segment.load(SegmentLayout.generationOffset)
        if generation == 0 { return (nil, ()) }
        let length = segment.load(plan.lengthOffset(generation))
        let offset = plan.slotOffset(generation)
        let isPossible = length <= UInt64(capacity)
        let copy = isPossible ? [UInt8](segment.memory[offset..<offset + Int(length)]) : []
        segment.fence()
        guard segment.load(SegmentLayout.generationOffset) == generation else { return nil }
        guard isPossible else {
            throw damaged("its header states a value of \(length) bytes and the capacity is \(capacity)")
        }
        return (copy, ())
    }

    private func damaged(_ reason: String) -> AppGroupError {
        .ipc(
            .ipcDamaged, "read", name.description, reason,
            "A program of the group writes to it without this library; the next write repairs it.")
    }
}

// MARK: Bytes

extension GroupSharedMemory {
    /// Lends the memory itself, `capacity` bytes of it. Other processes change them at any time: read nothing twice,
    /// and check a copy, not the memory.
    ///
    /// - Throws: ``AppGroupError`` with `ipcRemoved`; `ipcMismatch` for memory of a value.
    public func withUnsafeMutableBytes<Result>(
        _ body: (UnsafeMutableRawBufferPointer) -> Result
    ) throws(AppGroupError) -> Result {
        try requireUsable(.bytes, "use")
        let start = SegmentLayout.headerSize
        return body(UnsafeMutableRawBufferPointer(rebasing: segment.memory[start..<start + capacity]))
    }

    /// Throws if the memory is no longer the one under its name: writes would then reach no process.
    private func requireUsable(_ wanted: Layout, _ operation: String) throws(AppGroupError) {
        guard layout == wanted else {
            throw .ipc(
                .ipcMismatch, operation, name.description, "it has the other layout",
                "Use read and write for a value, and withUnsafeMutableBytes for bytes.")
        }
        let condition = kernel.condition
        if condition != 0 { throw AppGroupError.kernel(condition, operation, name) }
    }
}
