package import AppGroups
package import Sealing

/// The place that streams of a group are bound to: a stream has no name, so that its file may be moved.
extension BlobContext {
    package init(streamOf group: AppGroup) { self.init(group: group.identifier, kind: .stream, name: "") }
}
