internal import SharedFiles

/// The copy of the registry's entry that lies in the container itself: `.sealedstate.container`.
///
/// It is what a lost registry is made again from, where the quota is read before writes, and what tells programs that
/// still have the container open that it was given up.
package enum ContainerCopy {
    /// No copy has more bytes.
    package static let maximumSize = RegistryDocument.maximumSize

    /// Whether a file's content is such a copy to the last byte, so that nothing else can be hidden in it.
    ///
    /// - Parameter group: Whose copy it has to be; nil for any group's.
    package static func isCopy(_ bytes: [UInt8], of group: AppGroup?) -> Bool {
        guard let entry = try? RegistryDocument.entry(from: bytes), group == nil || entry.group == group else {
            return false
        }
        return (try? RegistryDocument.bytes(of: entry)) == bytes
    }

    /// The copy in a container; nil where there is none.
    static func read(in root: Directory, of group: AppGroup) throws(AppGroupError) -> RegistryEntry? {
        let path = root.display(ContainerLayout.metadata)
        do throws(CopyFault) {
            let entry = try readAny(in: root)
            guard let entry, entry.group != group else { return entry }
            throw .damaged("it is of \(entry.group), another group")
        } catch {
            switch error {
            case .damaged(let reason): throw .damagedCopy(path, of: group, because: reason)
            case .file(let error): throw AppGroupError(error, openingContainerOf: group)
            }
        }
    }

    enum CopyFault: Error {
        case damaged(String)
        case file(FileError)
    }

    /// The same of whatever group the container is.
    static func readAny(in root: Directory) throws(CopyFault) -> RegistryEntry? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try root.read(ContainerLayout.metadata, limit: RegistryDocument.maximumSize)
        } catch {
            switch error.code {
            case .notFound: return nil
            case .tooLarge, .notRegularFile, .unsafePath:
                throw .damaged("it is no copy of a registry's entry: \(error.code.rawValue)")
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

/// Bringing a container's copy to what the registry says, as after the registry was edited by hand.
extension ContainerCopy {
    /// Whether a container's copy is missing, or says something else. A damaged one is left to whoever mends it.
    static func differs(from entry: RegistryEntry, in root: Directory) -> Bool {
        do throws(AppGroupError) { return try read(in: root, of: entry.group) != entry } catch { return false }
    }

    /// Writes the copy where it differs. Called with the registry's lock held. One that can't be written, on a full disk say,
    /// stays as it is: whoever opens the container for writing next tries again.
    static func refresh(from entry: RegistryEntry, in root: Directory) {
        if differs(from: entry, in: root) { try? write(entry, in: root) }
    }
}
