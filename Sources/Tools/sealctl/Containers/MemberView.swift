internal import AppGroups
internal import PropertyLists

/// How a member program is shown.
struct MemberView {
    static let columns: [TextTable.Column] = [
        .init(title: "APPLICATION"), .init(title: "REGISTERED"), .init(title: "STATE"), .init(title: "EXECUTABLE"),
    ]

    let member: GroupMember

    var cells: [String] {
        [
            member.applicationIdentifier, registered.short, member.isInstalled ? "installed" : "gone",
            member.executablePath,
        ]
    }

    var json: JSONText {
        .object([
            ("application", .string(member.applicationIdentifier)), ("executable", .string(member.executablePath)),
            ("registered", .string(registered.rfc3339)), ("installed", .bool(member.isInstalled)),
        ])
    }

    private var registered: Timestamp {
        Timestamp(UInt64(max(0, (member.registered.secondsSince2001 + 978_307_200) * 1000)))
    }
}
