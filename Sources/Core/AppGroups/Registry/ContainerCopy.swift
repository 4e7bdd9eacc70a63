internal import SharedFiles

/// The copy of the registry's entry in the container itself: `.sealedstate.container`.
///
/// A lost registry is restored from it, the quota is read from it before writes, and it shows programs that still have
/// the container open that it was given up.
package enum ContainerCopy {
    /// The maximum size of a copy in bytes.
    package static let maximumSize = RegistryDocument.maximumSize

    /// Returns whether a file's content is exactly such a copy, so that nothing else can be hidden in it.
    ///
    /// - Parameter group: The group of the copy; nil for any group.
    package static func isCopy(_ bytes: [UInt8], of group: AppGroup?) -> Bool {
        guard let entry = try? RegistryDocument.entry(from: bytes), group == nil || entry.group == group else {
            return false
        }
        return (try? RegistryDocument.bytes(of: entry)) == bytes
    }

    /// Returns the copy in a container; nil if it is missing.
    static func read(in root: Directory, of group: AppGroup) throws(AppGroupError) -> RegistryEntry? {
        let path = root.display(ContainerLayout.metadata)
        do throws(CopyFault) {
            let entry = try readAny(in: root)
            guard let entry, entry.group != group else { return entry }
            throw .damaged("it belongs to another group, \(entry.group)")
        } catch {
            switch error {
            case .damaged(let reason): throw .damagedCopy(path, of: group, because: reason)
            case .file(let error): throw AppGroupError(error, openingContainerOf: group)
            }
        }
    }

    /// Returns the copy in a container of any group; nil if it is missing or cannot be read.
    package static func entry(in root: Directory) -> RegistryEntry? {
        do throws(CopyFault) { return try readAny(in: root) } catch { return nil }
    }

    enum CopyFault: Error {
        case damaged(String)
        case file(FileError)
    }

    /// Does the same for a container of any group.
    static func readAny(in root: Directory) throws(CopyFault) -> RegistryEntry? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try root.read(ContainerLayout.metadata, limit: RegistryDocument.maximumSize)
        } catch {
            switch error.code {
            case .notFound: return nil
            case .tooLarge, .notRegularFile, .unsafePath:
                throw .damaged("it is not a copy of a registry's entry: \(error.code.rawValue)")
            default: throw .file(error)
            }
        }
        do throws(RegistryDocument.Fault) { return try RegistryDocument.entry(from: bytes) } catch {
            throw .damaged(error.reason)
        }
    }

    static func write(_ entry: RegistryEntry, in root: Directory) throws(AppGroupError) {
        let bytes: [UInt8]
        do throws(RegistryDocument.Fault) { bytes = try RegistryDocument.bytes(of: entry) } catch {
            throw .damagedRegistry(root.display(ContainerLayout.metadata), of: entry.group, because: error.reason)
        }
        do throws(FileError) {
            let sharing = try root.sharing
            try root.replace(
                ContainerLayout.metadata, with: bytes, mode: sharing.fileMode, group: sharing.groupID,
                durability: .durable)
        } catch {
            throw AppGroupError(error, "write the copy of the registry", registryOf: entry.group)
        }
    }
}

/// Updates of a container's copy from the registry, for example after the registry was edited by hand.
extension ContainerCopy {
    /// Returns whether a container's copy is missing or different. A damaged copy is left for manual repair.
    static func differs(from entry: RegistryEntry, in root: Directory) -> Bool {
        do throws(AppGroupError) { return try read(in: root, of: entry.group) != entry } catch { return false }
    }

    /// Writes the copy if it differs. Requires the registry's lock. A copy that can't be written, for example on a full
    /// disk, stays unchanged, and the next opening for writing retries.
    static func refresh(from entry: RegistryEntry, in root: Directory) {
        if differs(from: entry, in: root) { try? write(entry, in: root) }
    }
}
