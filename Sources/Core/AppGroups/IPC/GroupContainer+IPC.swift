internal import SharedFiles

extension GroupContainer {
    /// Removes all semaphores and shared memory of the group: they are in the kernel, and stay there when the
    /// container's directory is removed.
    ///
    /// Objects of other users stay, with their records: only their owners and root can remove them. A failure does not
    /// stop the removal of the others.
    /// - Returns: the number of removed names, those without an object included.
    /// - Throws: ``AppGroupError`` for the first one that could not be removed for another reason, after all were
    ///   tried.
    @discardableResult
    package func removeKernelObjects() throws(AppGroupError) -> Int {
        var count = 0
        var failure: AppGroupError?
        for entry in try ipcNames() {
            do throws(AppGroupError) {
                try unlinkIPC(entry)
                count += 1
            } catch {
                if error.code != .ipcNotOwner { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
        return count
    }

    private func unlinkIPC(_ entry: String) throws(AppGroupError) {
        let name = String(entry.dropLast(IPCKind.semaphore.suffix.count))
        try unlink(entry.hasSuffix(IPCKind.semaphore.suffix) ? .semaphore : .values, name)
    }

    private func ipcNames() throws(AppGroupError) -> [String] {
        do throws(FileError) {
            return try root.directory(ContainerLayout.ipc).entries().map(\.name).filter(IPCFile.isRecordName)
        } catch {
            if error.code == .notFound { return [] }
            throw AppGroupError(error, openingContainerOf: group)
        }
    }
}

extension GroupContainer {
    /// Opens the kernel's semaphore of a name; creates it, and the record in the container, if it does not exist.
    ///
    /// - Throws: ``AppGroupError``.
    package func openSemaphore(
        _ name: GroupIPCName, startingAt value: Int, creating: Bool
    ) throws(AppGroupError) -> KernelSemaphore {
        let place = try IPCPlace(name, IPCKind.semaphore.suffix, in: self, creating: creating)
        let specification = IPCOpening<KernelSemaphore>.Specification(kind: .semaphore, value: value)
        return try IPCOpening(place: place, specification: specification).open(creating: creating).object
    }

    /// Opens the kernel's segment of a name; creates it, and the record in the container, if it does not exist.
    ///
    /// - Parameter capacity: Bytes; `nil` takes a segment of any size.
    /// - Throws: ``AppGroupError``.
    package func openSegment(
        _ name: GroupIPCName, _ kind: IPCKind, capacity: UInt64?, creating: Bool
    ) throws(AppGroupError) -> OpenSegment {
        let place = try IPCPlace(name, kind.suffix, in: self, creating: creating)
        let specification = IPCOpening<KernelSegment>.Specification(
            kind: kind, capacity: capacity ?? 1, takesAnyCapacity: capacity == nil)
        let found = try IPCOpening(place: place, specification: specification).open(creating: creating)
        return OpenSegment(
            place: place, kernel: found.object, plan: SegmentLayout(found.record), stamp: found.record.stamp.bytes)
    }

    /// Removes the kernel's object of a name, and its record. An object that does not exist counts as removed.
    ///
    /// - Throws: ``AppGroupError`` with `ipcNotOwner` where it is another user's; those of opening.
    package func unlink(_ kind: IPCKind, _ name: String) throws(AppGroupError) {
        let name = try GroupIPCName(name, in: group)
        do throws(AppGroupError) {
            let place = try IPCPlace(name, kind.suffix, in: self, creating: false)
            switch kind {
            case .semaphore: try IPCOpening<KernelSemaphore>(place: place, specification: .init(kind: kind)).remove()
            case .values, .bytes: try IPCOpening<KernelSegment>(place: place, specification: .init(kind: kind)).remove()
            }
        } catch {
            if error.code != .ipcMissing { throw error }
        }
    }
}

/// A segment as its record describes it.
package struct OpenSegment: Sendable {
    /// The record's directory, whose lock writers take.
    package let place: IPCPlace
    /// The kernel's object.
    package let kernel: KernelSegment
    /// The layout of its bytes.
    package let plan: SegmentLayout
    /// The first bytes of the segment.
    package let stamp: [UInt8]
}

/// The files in a container for semaphores, shared memory and sockets, for tools that examine a container.
package enum IPCFile {
    /// The lock file in either directory; empty.
    package static let lockName = IPCPlace.lockName
    /// The size of a record in bytes.
    package static let recordSize = IPCRecord.size

    /// Returns whether a file of that name may have these bytes: a record of the kind that the name indicates.
    package static func isRecord(named name: String, _ bytes: [UInt8]) -> Bool {
        guard let record = IPCRecord(bytes), name.hasSuffix(record.kind.suffix) else { return false }
        return GroupIPCName.fault(of: String(name.dropLast(record.kind.suffix.count))) == nil
    }

    /// Returns whether a record may have that name.
    package static func isRecordName(_ name: String) -> Bool {
        let suffixes = IPCKind.allCases.map(\.suffix)
        guard let suffix = suffixes.first(where: name.hasSuffix) else { return false }
        return GroupIPCName.fault(of: String(name.dropLast(suffix.count))) == nil
    }

    /// Returns whether a socket may have that name.
    package static func isSocketName(_ name: String) -> Bool { GroupIPCName.fault(of: name) == nil }
}
