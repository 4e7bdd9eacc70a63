extension AuditCheck {
    /// A family of checks, as the document shows it.
    package struct Family: Sendable {
        /// Its heading.
        package let title: String
        /// Its checks.
        package let checks: [AuditCheck]
    }

    /// Every family.
    package static let families = [
        Family(title: "Sealed blobs", checks: blobs),
        Family(title: "Plaintext and keys", checks: plaintext),
        Family(title: "Permissions", checks: permissions),
        Family(title: "Vault and memory of readers", checks: vault),
        Family(title: "Links, special files and leftovers", checks: order),
    ]

    /// Every check.
    package static let all = families.flatMap(\.checks)
}
