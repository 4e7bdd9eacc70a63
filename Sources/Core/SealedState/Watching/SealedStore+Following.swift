internal import AppGroups
internal import SharedFiles
internal import SystemPackage

/// Following a container that was removed, replaced or made anew while it was open.
extension SealedStore {
    /// This store where its container still has the group's place and may be trusted, else one on the container that has it
    /// now.
    ///
    /// The place is asked for anew, as when the store was opened: another directory may stand for the group by then.
    /// Nothing is made.
    /// - Throws: `StoreError` `.containerMissing`, or `.container` for one that cannot be used as it is.
    package func following() throws(StoreError) -> SealedStore {
        do throws(AppGroupError) {
            // The registry's answer first: a container that was given up may still be open, and lie where it lay.
            let isHere = try GroupContainer.place(of: group, in: home) == container.root.path
            if isHere && isInPlace && isTrusted { return self }
            return SealedStore(
                self,
                on: try GroupContainer.open(group, in: home, creating: false, entitlements: .unchecked))
        } catch {
            throw StoreError(error, "find the container of")
        }
    }

    /// Whether the open container is the directory of that name.
    private var isInPlace: Bool {
        do throws(FileError) {
            let named = try Directory.open(container.root.path).attributes(".")
            return named.isSameFile(as: try container.root.attributes("."))
        } catch {
            return false
        }
    }

    /// Whether nobody else may change the open container by now: its modes may be others than when it was opened.
    private var isTrusted: Bool { (try? container.root.requireTrusted()) != nil }

    /// Where a record's file lies or would lie, whether or not any directory above it exists.
    func watchedPath(of place: RecordPlace) -> String {
        "\(containerPath)/\(RecordFile.path(of: place.name))"
    }

    /// The registry's file: it changes when the group's container lies elsewhere, or is given up.
    var watchedRegistryPath: String { GroupRegistry(group, in: home).path }

    /// The vault's directory: it changes when the vault does, and when it is unlocked or locked.
    var watchedVaultPath: String { FilePath(vault.path).removingLastComponent().string }
}
