public import AppGroups
internal import SharedFiles

/// Memory that the programs of an app group share, of a fixed size.
///
/// It lives in the kernel as a ``GroupSemaphore`` does. No file is mapped: nobody can shorten it, so what a member does can make
/// its contents wrong, and never ends a program that reads them.
///
/// ```swift
/// let memory = try GroupSharedMemory("position", in: container, capacity: 256)
/// try memory.write(bytes)                  // one whole value, or none
/// let latest = try memory.read()           // never a mixture of two; nil before the first write
/// ```
///
/// Contents are as readable as the container: see `SealedSharedMemory` of the store for what only holders of the group's key
/// may read.
public final class GroupSharedMemory: Sendable {
    /// What the memory holds.
    public enum Layout: Sendable, Hashable {
        /// One value of at most `capacity` bytes, replaced as a whole.
        case value
        /// Bytes without any order but the programs' own.
        case bytes
    }

    /// Its name.
    public let name: GroupIPCName
    /// What it holds.
    public let layout: Layout
    /// Bytes of the longest value.
    public var capacity: Int { plan.capacity }

    private let place: IPCPlace
    private let kernel: KernelSegment
    private let segment: AttachedSegment
    private let plan: SegmentLayout

    /// What tells these bytes from those of memory that was made anew under the name.
    package let identity: [UInt8]

    /// How often a value is copied again that changed meanwhile, before the reader takes the writers' lock.
    private static let freeAttempts = 64

    /// Opens memory, and makes it, all zeros, where there is none.
    ///
    /// - Parameters:
    ///   - name: Its name within the group; see ``GroupIPCName``.
    ///   - container: The group's container. Who may use it may read and write the memory.
    ///   - capacity: Bytes, 1 to 2^30; nil opens what there is, whatever its size, and makes nothing.
    ///   - layout: What it holds.
    ///   - creating: Whether to make it. With `false` nothing is written.
    /// - Throws: ``AppGroupError`` as `GroupSemaphore.init`; `ipcMismatch` where it has another capacity or layout;
    ///   `messageTooLarge` for a capacity out of range.
    public init(
        _ name: String, in container: GroupContainer, capacity: Int?, layout: Layout = .value, creating: Bool = true
    ) throws(AppGroupError) {
        self.name = try GroupIPCName(name, in: container.group)
        self.layout = layout
        let creating = creating && capacity != nil
        guard let bytes = UInt64(exactly: capacity ?? 1), SegmentLayout.capacities.contains(bytes) else {
            throw Self.tooLarge(self.name, "\(capacity ?? 0) bytes are not 1 to \(SegmentLayout.capacities.upperBound)")
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
        // What was found may have been removed, and its number given to another one, before it was attached.
        guard segment.memory.count == Int(plan.size), segment.stamp == found.stamp else {
            throw AppGroupError.kernel(removedNumber, "open", self.name)
        }
    }

    /// Removes memory for everybody: who has it open gets `ipcRemoved`, and who opens it next makes a new one.
    ///
    /// - Throws: as `GroupSemaphore.unlink`.
    public static func unlink(_ name: String, in container: GroupContainer) throws(AppGroupError) {
        try container.unlink(.values, name)
    }

    private static func tooLarge(_ name: GroupIPCName, _ reason: String) -> AppGroupError {
        .ipc(.messageTooLarge, "use", name.description, reason, "Share less, or make it larger.")
    }
}

// MARK: Values

extension GroupSharedMemory {
    /// Replaces the value. A reader sees the old one or this one; killed at any point, so it stays.
    ///
    /// - Parameter timeout: How long to wait for another writer.
    /// - Throws: ``AppGroupError`` with `messageTooLarge`, `ipcRemoved`, `timeout`; `ipcMismatch` for memory of bytes.
    public func write(_ value: [UInt8], timeout: Duration = .seconds(10)) throws(AppGroupError) {
        try replace(timeout) { _ in value }
    }

    /// The value; nil before the first write.
    ///
    /// It is a copy: what others write meanwhile does not change it. Takes no lock, unless the value changes faster than it
    /// can be copied; then it waits for the writers.
    /// - Throws: ``AppGroupError`` with `ipcRemoved`; `ipcDamaged` where a member wrote what is no value; `timeout`;
    ///   `ipcMismatch` for memory of bytes.
    public func read(timeout: Duration = .seconds(10)) throws(AppGroupError) -> [UInt8]? {
        try requireUsable(.value, "read")
        for _ in 0..<Self.freeAttempts {
            if let copy = try copyOnce() { return copy.value }
        }
        return try place.locked("read", timeout) { () throws(AppGroupError) in
            if let copy = try copyOnce() { return copy.value }
            throw damaged("it changes without its lock")
        }
    }

    /// Reads the value and writes the next one, while no other writer does.
    ///
    /// - Parameter change: Gets the value, nil before the first write. Where it answers nil, nothing is written.
    package func replace(
        _ timeout: Duration, isCancelled: (() -> Bool)? = nil, _ change: ([UInt8]?) -> [UInt8]?
    ) throws(AppGroupError) {
        try requireUsable(.value, "write")
        try place.locked("write", timeout, isCancelled: isCancelled) { () throws(AppGroupError) in
            // A value that is none does not keep a writer from putting one in its place.
            guard let value = change((try? copyOnce())?.value) else { return }
            guard value.count <= capacity else {
                throw Self.tooLarge(name, "the value has \(value.count) bytes and \(capacity) fit")
            }
            try requireUsable(.value, "write")
            put(value)
        }
    }

    private func put(_ value: [UInt8]) {
        // 0 stands for no value at all.
        let generation = segment.load(SegmentLayout.generationOffset)
        let next = generation == .max ? 2 : generation + 1
        // A reader that finds anything of what follows must find this generation as well, and not the one before it, whose
        // slot this is.
        segment.fence()
        segment.store(UInt64(value.count), plan.lengthOffset(next))
        UnsafeMutableRawBufferPointer(rebasing: segment.memory[plan.slotOffset(next)...]).copyBytes(from: value)
        segment.fence()
        segment.store(next, SegmentLayout.generationOffset)
    }

    /// One whole value; nil where it changed meanwhile.
    private func copyOnce() throws(AppGroupError) -> (value: [UInt8]?, Void)? {
        let generation = segment.load(SegmentLayout.generationOffset)
        if generation == 0 { return (nil, ()) }
        let length = segment.load(plan.lengthOffset(generation))
        let offset = plan.slotOffset(generation)
        let isPossible = length <= UInt64(capacity)
        let copy = isPossible ? [UInt8](segment.memory[offset..<offset + Int(length)]) : []
        segment.fence()
        guard segment.load(SegmentLayout.generationOffset) == generation else { return nil }
        guard isPossible else { throw damaged("it says that its value has \(length) bytes and \(capacity) fit") }
        return (copy, ())
    }

    private func damaged(_ reason: String) -> AppGroupError {
        .ipc(
            .ipcDamaged, "read", name.description, reason,
            "A program of the group writes to it in another way; the next write mends it.")
    }
}

// MARK: Bytes

extension GroupSharedMemory {
    /// Lends the memory itself, `capacity` bytes of it. Other processes change them at any time: read nothing twice, and check
    /// a copy, not the memory.
    ///
    /// - Throws: ``AppGroupError`` with `ipcRemoved`; `ipcMismatch` for memory of a value; what the body throws as a result.
    public func withUnsafeMutableBytes<Result>(
        _ body: (UnsafeMutableRawBufferPointer) -> Result
    ) throws(AppGroupError) -> Result {
        try requireUsable(.bytes, "use")
        let start = SegmentLayout.headerSize
        return body(UnsafeMutableRawBufferPointer(rebasing: segment.memory[start..<start + capacity]))
    }

    /// Whether it is still the one that others find under its name: else what is written reaches nobody.
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
