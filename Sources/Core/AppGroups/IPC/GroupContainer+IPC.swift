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
        if entry.hasSuffix(IPCKind.semaphore.suffix) {
            try GroupSemaphore.unlink(name, in: self)
        } else {
            try GroupSharedMemory.unlink(name, in: self)
        }
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

/// The files of semaphores, shared memory and sockets in a container, for code that examines a container.
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
