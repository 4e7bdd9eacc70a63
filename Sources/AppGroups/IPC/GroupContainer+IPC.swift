internal import SharedFiles

extension GroupContainer {
    /// Removes all semaphores and shared memory of the group: they are in the kernel, and stay there when the container's
    /// directory goes.
    ///
    /// - Returns: how many names were removed, those without an object included.
    /// - Throws: ``AppGroupError`` for the first one that could not be removed: `ipcUntrusted` for another user's, `ipcElsewhere`
    ///   for one of another IPC namespace.
    @discardableResult
    package func removeKernelObjects() throws(AppGroupError) -> Int {
        var count = 0
        for entry in try ipcNames() {
            let name = String(entry.dropLast(IPCKind.semaphore.suffix.count))
            if entry.hasSuffix(IPCKind.semaphore.suffix) {
                try GroupSemaphore.unlink(name, in: self)
            } else {
                try GroupSharedMemory.unlink(name, in: self)
            }
            count += 1
        }
        return count
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
