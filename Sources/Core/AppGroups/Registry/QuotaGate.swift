package import SharedFiles
internal import Synchronization
internal import SystemPackage

/// Lets writes into a container while its quota allows them.
///
/// A container without a quota costs a write one look at a name. One with a quota is measured when a write comes near the
/// limit, or when the last measurement is old; in between this process counts what it writes itself. Several programs that
/// write at once may together exceed the quota by what they write between two measurements: it keeps one program from
/// filling the disk, and is no guard against a member that means to.
package final class QuotaGate: Sendable {
    private struct Measurement {
        var used: Int64
        let expires: ContinuousClock.Instant
    }

    private struct State {
        /// The copy that was read, and what it says; compared by inode, size and time.
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

    /// A measurement is old after that time, or a hundred times what it took.
    private static let validity: Duration = .seconds(5)
    /// Within that part of the limit every write that makes the container larger measures anew.
    private static let reserve: Int64 = 10

    /// Refuses a file that would make the container larger than its quota allows, and any file in a container that was
    /// given up.
    ///
    /// - Parameters:
    ///   - relative: Where the file is to lie; what it replaces there counts in its favour.
    ///   - size: Bytes of the new file.
    ///   - isDeletion: It says that a record was deleted: no quota keeps it out, also where what it replaces is smaller, as
    ///     a torn record is.
    /// - Throws: `FileError` `.quotaExceeded` with the figures in its advice; `.notFound` for a container that was moved to the
    ///   trash; `.damagedContainer` where the copy of the registry can't be read.
    package func admit(_ relative: String, size: Int, isDeletion: Bool = false) throws(FileError) {
        let copy: FileAttributes
        do throws(FileError) { copy = try root.attributes(ContainerLayout.metadata) } catch {
            if error.code == .notFound { return }
            throw error
        }
        try state.withLock { (state) throws(FileError) in
            if state.copy != copy { try read(copy, &state) }
            guard let limit = state.entry?.quota, !isDeletion else { return }
            try admit(relative, Int64(size), within: limit, &state)
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
        if let entry, entry.group != group { throw damaged(because: "it is of \(entry.group), another group") }
        if entry?.departure != nil { throw given }
        state.entry = entry
        state.copy = copy
    }

    private func admit(_ relative: String, _ size: Int64, within limit: Int64, _ state: inout State) throws(FileError) {
        let now = ContinuousClock.now
        if let known = state.measurement, now < known.expires,
            known.used.addingWithSaturation(size) <= limit - limit / Self.reserve
        {
            state.measurement?.used += size
            return
        }
        // Deleting writes a tombstone, and resealing a file as large: neither is kept from where there is no room.
        let standing = (try? root.attributes(relative))?.size ?? 0
        guard size > standing else { return }
        let used = ContainerUsage(of: root).total.bytes
        let end = ContinuousClock.now
        state.measurement = Measurement(
            used: used.addingWithSaturation(size), expires: end + max(Self.validity, (end - now) * 100))
        // Sums that are too large for a number are larger than every limit.
        guard max(0, used - standing).addingWithSaturation(size) <= limit else {
            state.measurement = nil
            throw exceeded(relative, size - standing, used, limit)
        }
    }

    private func exceeded(_ relative: String, _ growth: Int64, _ used: Int64, _ limit: Int64) -> FileError {
        FileError(
            .quotaExceeded, operation: "write", path: root.display(relative),
            advice:
                "The container holds \(used) bytes, \(limit) are allowed, and this adds \(growth). See what is there: "
                + "sealctl container usage --group \(group); allow more: sealctl container quota --group \(group) BYTES"
        )
    }

    private var given: FileError {
        FileError(
            .notFound, operation: "write to the container", path: root.path.string,
            advice:
                "It was given up and moved to the trash. Open the store again to write to the group's present container."
        )
    }

    private func damaged(because reason: String) -> FileError {
        let path = root.display(ContainerLayout.metadata)
        return FileError(
            .damagedContainer, operation: "use the container's copy of the registry", path: path,
            advice: "Mend it (\(reason)), or remove it; then it is written anew with the registry's next change: "
                + "rm \(path.shellQuoted)")
    }
}

extension FileError.Code {
    /// The container's own copy of the registry's entry is damaged or another group's.
    package static let damagedContainer = Self(rawValue: "damagedContainer")
}
