internal import KeyVault

/// What a vault says of an item, for people and programs. It has no value.
struct ItemView {
    let item: VaultItem

    init(_ item: VaultItem) { self.item = item }

    static let columns: [TextTable.Column] = [
        .init(title: "SERVICE"), .init(title: "ACCOUNT"), .init(title: "SIZE", isNumber: true),
        .init(title: "ACCESSIBLE"), .init(title: "MODIFIED"), .init(title: "LABEL"),
    ]

    var cells: [String] {
        [item.service, item.account, String(item.size), accessible, Timestamp(item.modified).short, item.label]
    }

    var text: String {
        FieldList([
            ("service", item.service), ("account", item.account), ("label", item.label), ("accessible", accessible),
            ("size", String(item.size)), ("created", Timestamp(item.created).short),
            ("modified", Timestamp(item.modified).short),
        ]).text
    }

    var json: JSONText {
        .object([
            ("service", .string(item.service)), ("account", .string(item.account)), ("label", .string(item.label)),
            ("accessibility", .string(item.accessibility.rawValue)), ("size", .number(item.size)),
            ("createdAt", .string(Timestamp(item.created).rfc3339)),
            ("modifiedAt", .string(Timestamp(item.modified).rfc3339)),
        ])
    }

    private var accessible: String { AccessibilityWord(item.accessibility).rawValue }
}
