internal import AppGroups

/// How a container in the trash is shown and named.
struct TrashView {
    let item: ContainerTrash.Item
    /// nil where it could not be looked at.
    private let usage: ContainerUsage?

    init(_ item: ContainerTrash.Item, _ trash: ContainerTrash) {
        self.item = item
        usage = try? trash.usage(of: item)
    }

    var cells: [String] {
        [item.group.identifier, Self.time(item.moved), usage.map { String($0.total.bytes) } ?? "-", item.name]
    }

    var json: JSONText {
        .object([
            ("name", .string(item.name)), ("group", .string(item.group.identifier)),
            ("moved", .string(Self.time(item.moved))), ("bytes", usage.map { .number(Int($0.total.bytes)) } ?? .null),
            ("path", .string(item.path)),
        ])
    }

    /// `20261121T130405Z` as `2026-11-21T13:04:05Z`.
    private static func time(_ compact: String) -> String {
        let text = Array(compact)
        guard text.count == 16 else { return compact }
        func part(_ range: Range<Int>) -> String { String(text[range]) }
        return "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(9..<11)):\(part(11..<13)):\(part(13..<15))Z"
    }

    /// Both forms sort by time as text.
    static func isOlder(_ item: ContainerTrash.Item, than limit: PastTime) -> Bool {
        time(item.moved) < String(limit.timestamp.rfc3339.prefix(19)) + "Z"
    }

    /// - Throws: `AppGroupError` `notInTrash`.
    static func item(_ name: String, in trash: ContainerTrash) throws(AppGroupError) -> ContainerTrash.Item {
        let items = try trash.items()
        guard let item = items.first(where: { $0.name == name }) else { throw .notInTrash(name) }
        return item
    }
}
