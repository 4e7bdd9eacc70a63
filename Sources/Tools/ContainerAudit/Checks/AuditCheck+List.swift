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
        Family(title: "Records", checks: records),
        Family(title: "Plaintext and keys", checks: plaintext),
        Family(title: "Values of files", checks: stores),
        Family(title: "Permissions", checks: permissions),
        Family(title: "Vault and memory of readers", checks: vault),
        Family(title: "Programs of the group", checks: programs),
        Family(title: "Links, special files and leftovers", checks: order),
        Family(title: "Secrets", checks: secrets),
        Family(title: "Limits of the audit", checks: scan),
    ]

    /// Every check.
    package static let all = families.flatMap(\.checks)
}
