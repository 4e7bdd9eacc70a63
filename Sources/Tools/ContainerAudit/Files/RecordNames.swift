internal import AppGroups
internal import Sealing

/// The records that have a file in their place, by the tag that their blobs carry.
struct RecordNames: Sendable {
    private let names: [NameTag: String]

    init(_ entries: some Sequence<ContainerEntry>, group: AppGroup?) {
        guard let group else {
            names = [:]
            return
        }
        let pairs = entries.compactMap(\.place.recordName).map { name in
            (BlobContext(group: group.identifier, kind: .record, name: name).nameTag, name)
        }
        names = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    /// The record that a blob with this tag belongs to, if it has a file of its own.
    subscript(tag: NameTag) -> String? { names[tag] }
}
