internal import AppGroups
internal import Glibc
internal import KeyVault
internal import Sealing
internal import SharedFiles
internal import SystemPackage

/// Looks at every sealed blob of the group's containers that were given up. Who restores one needs their keys; no rotation
/// reseals them there.
struct TrashSurvey {
    private let store: SealedStore

    init(_ store: SealedStore) { self.store = store }

    /// Visits every file there that is, or may be, a sealed blob of the group, each under its whole path.
    func visit(_ body: (SurveyedBlob) -> Void) throws(StoreError) {
        let items: [ContainerTrash.Item]
        do throws(AppGroupError) { items = try ContainerTrash(home: store.home).items() } catch {
            throw StoreError(error, "search the trash for containers of")
        }
        for item in items where item.group == store.group { try visit(item, body) }
    }

    private func visit(_ item: ContainerTrash.Item, _ body: (SurveyedBlob) -> Void) throws(StoreError) {
        guard let root = try open(item) else { return }
        try BlobSurvey(store, in: root).visit(includingQuarantine: true) { blob throws(StoreError) in
            var blob = blob
            blob.path = "\(item.path)/\(blob.path)"
            body(blob)
        }
    }

    /// Nil for one that was deleted meanwhile, and for another user's who keeps it closed: it was never this user's container.
    private func open(_ item: ContainerTrash.Item) throws(StoreError) -> Directory? {
        do throws(FileError) { return try Directory.open(FilePath(item.path)) } catch {
            if error.code == .notFound || isOfAnotherUser(item) { return nil }
            throw StoreError(error, "search the trash for containers of", store.group.identifier)
        }
    }

    private func isOfAnotherUser(_ item: ContainerTrash.Item) -> Bool {
        var facts = stat()
        return lstat(item.path, &facts) == 0 && facts.st_uid != geteuid()
    }
}
