extension Severity {
    /// A number from 0 to 10 in the manner of CVSS, as GitHub reads the SARIF property `security-severity`: above 9.0 is
    /// critical, from 7.0 high, from 4.0 medium, above 0 low.
    ///
    /// Source: GitHub, "SARIF support for code scanning", property `security-severity`.
    package var securitySeverity: Double {
        switch self {
        case .info: 0
        case .low: 2
        case .medium: 5.5
        case .high: 8
        case .critical: 9.5
        }
    }
}

extension AuditCheck {
    /// That number for its usual severity.
    package var securitySeverity: Double { severity.securitySeverity }
}
