package import SharedFiles
internal import Synchronization
internal import SystemPackage

/// Allows writes into a container within its quota.
///
/// Without a quota a write costs one check of a name. A container with a quota is measured when a write comes near the
/// limit, or when the last measurement is old; in between this process counts its own writes. Several programs that
/// write simultaneously may exceed the quota by their writes between two measurements: it prevents one program from
/// filling the disk, but does not stop a malicious member.
package final class QuotaGate: Sendable {
    private struct Measurement {
        var used: Int64
        let expires: ContinuousClock.Instant
    }

    private struct State {
        /// The attributes of the copy that was read, compared by inode, size and time.
        var copy: FileAttributes?
        var entry: RegistryEntry?
        var measurement: Measurement?
    }

    private let group: AppGroup
    private let root: Directory
    private let state = Mutex(State())

    init(group: AppGroup, root: Directory) {
        self.group = group
        self.root = root
    }

    /// The validity of a measurement: this time, or a hundred times its duration.
    private static let validity: Duration = .seconds(5)
    /// The divisor of the limit that gives its last part: there every write that enlarges the container measures again.
    private static let reserve: Int64 = 10

    /// Rejects a file that would exceed the container's quota, and any file in a container that was given up.
    ///
    /// - Parameters:
    ///   - relative: The file's path; the size of the file that it replaces is deducted.
    ///   - size: Bytes of the new file.
    ///   - isDeletion: `true` for the deletion of a record: no quota rejects it, even if the replaced file is smaller,
    ///     as a torn record is.
    ///   - existing: Bytes of the value that is replaced; those of the file unless stated. Called near the limit only.
    /// - Throws: `FileError` `.quotaExceeded` with the figures in its advice; `.notFound` for a container that was
    ///   moved to the trash; `.damagedContainer` if the copy of the registry can't be read.
    package func admit(
        _ relative: String, size: Int, isDeletion: Bool = false, replacing existing: (() -> Int)? = nil
    ) throws(FileError) {
        guard let copy = try root.presentAttributes(ContainerLayout.metadata) else { return }
        try state.withLock { (state) throws(FileError) in
            if state.copy != copy { try read(copy, &state) }
            guard let limit = state.entry?.quota, !isDeletion else { return }
            try admit(relative, Int64(size), within: limit, existing, &state)
        }
    }

    private func read(_ copy: FileAttributes, _ state: inout State) throws(FileError) {
        let entry: RegistryEntry?
        do throws(ContainerCopy.CopyFault) { entry = try ContainerCopy.readAny(in: root) } catch {
            switch error {
            case .file(let error): throw error
            case .damaged(let reason): throw damaged(because: reason)
            }
        }
        if let entry, entry.group != group { throw damaged(because: "it belongs to another group, \(entry.group)") }
        if entry?.departure != nil { throw given }
        state.entry = entry
        state.copy = copy
    }

    private func admit(
        _ relative: String, _ size: Int64, within limit: Int64, _ existing: (() -> Int)?, _ state: inout State
    ) throws(FileError) {
        let now = ContinuousClock.now
        if let known = state.measurement, now < known.expires,
            known.used.addingWithSaturation(size) <= limit - limit / Self.reserve
        {
            state.measurement?.used += size
            return
        }
        // Deletion writes a tombstone, and resealing a file of the same size: neither is rejected for lack of space.
        let existing = existing.map { Int64($0()) } ?? (try? root.attributes(relative))?.size ?? 0
        guard size > existing else { return }
        let used = ContainerUsage(of: root).total.bytes
        let end = ContinuousClock.now
        state.measurement = Measurement(
            used: used.addingWithSaturation(size), expires: end + max(Self.validity, (end - now) * 100))
        // Sums that overflow exceed every limit.
        guard max(0, used - existing).addingWithSaturation(size) <= limit else {
            state.measurement = nil
            throw exceeded(relative, size - existing, used, limit)
        }
    }

    private func exceeded(_ relative: String, _ growth: Int64, _ used: Int64, _ limit: Int64) -> FileError {
        FileError(
            .quotaExceeded, operation: "write", path: root.display(relative),
            advice:
                "The container holds \(used) bytes, \(limit) are allowed, this write adds \(growth). See its contents: "
                + "sealctl container usage --group \(group); allow more: sealctl container quota --group \(group) BYTES"
        )
    }

    private var given: FileError {
        FileError(
            .notFound, operation: "write to the container", path: root.path.string,
            advice:
                "It was abandoned and moved to the trash. Open the store again to write to the present container."
        )
    }

    private func damaged(because reason: String) -> FileError {
        let path = root.display(ContainerLayout.metadata)
        return FileError(
            .damagedContainer, operation: "use the container's copy of the registry", path: path,
            advice: "Correct it (\(reason)), or remove it; the registry's next change then writes it again: "
                + "rm \(path.shellQuoted)")
    }
}

extension FileError.Code {
    /// The container's own copy of the registry's entry is damaged or another group's.
    package static let damagedContainer = Self(rawValue: "damagedContainer")
}
