// What the audit's own limits kept from it.
extension AuditCheck {
    static let contentPartlyRead = AuditCheck(
        id: "content.partly-read", severity: .low, title: "A file was not read to its end",
        meaning:
            "Part of it is damaged, encrypted by something else, or beyond a limit of the audit: what lies there was not "
            + "searched. Information only where it is of a form that the audit does not read.",
        remedy: "See what it is: file {file}", references: [Reference.storage, Reference.testStorage])

    static let scan = [contentPartlyRead]
}
