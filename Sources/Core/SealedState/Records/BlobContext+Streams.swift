package import AppGroups
package import Sealing

/// The places of a group's streams.
extension BlobContext {
    /// Creates the place of a stream.
    ///
    /// - Parameter name: The name that the stream is bound to. Nameless streams are bound to their group only: their
    ///   files may be moved, and exchanged for each other.
    package init(streamOf group: AppGroup, named name: String? = nil) {
        self.init(group: group.identifier, kind: .stream, name: name ?? "")
    }

    /// Creates the place of a stream whose name is not known: any stream of the group with this tag opens in it.
    package init(streamOf group: AppGroup, tagged nameTag: NameTag) {
        self.init(group: group.identifier, kind: .stream, nameTag: nameTag)
    }
}
