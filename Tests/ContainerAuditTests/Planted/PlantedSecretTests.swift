import ContainerAudit
import Glibc
import TestSupport
import Testing

/// Tests of thirty kinds of secret in thirty carriers, planted by the tools that make real ones.
@Suite struct PlantedSecretTests {
    /// At least 95 of 100 secrets of each carrier are found.
    @Test(arguments: [11])
    func secretsAreFoundInEveryCarrier(seed: Int) throws {
        let tree = try PlantedTree.secrets(seed: seed)
        let report = try ContainerAuditor().audit(path: tree.directory.path)
        let findings = Dictionary(grouping: report.findings, by: { $0.path.split(separator: "/").prefix(2).joined() })
        for (carrier, items) in Dictionary(grouping: try tree.items, by: \.carrier).sorted(by: { $0.key < $1.key }) {
            let nearby = findings["planted" + carrier] ?? []
            let missed = items.filter { item in !nearby.contains(where: item.isNamed) }.map(\.kind)
            #expect(missed.count * 20 <= items.count, "\(carrier): \(missed.count) of \(items.count) missed: \(missed)")
        }
    }

    /// At most one look-alike in ten megabytes is reported.
    @Test func lookAlikesArePassedOver() throws {
        let megabytes = Self.isLongRun ? 60 : 10
        let tree = try PlantedTree.lookAlikes(seed: 12, megabytes: megabytes)
        let report = try ContainerAuditor().audit(path: tree.directory.path)
        let secrets = report.findings.filter { Self.families.contains(String($0.id.prefix { $0 != "." })) }
        let listed = secrets.map { "\($0.id) \($0.path) \($0.location?.line ?? 0) \($0.location?.place ?? "")" }
        #expect(secrets.count <= megabytes / 10, "\(listed)")
        #expect(report.omissions.unlisted.isEmpty)
    }

    private static let isLongRun = getenv("SEALED_LONG").map { String(cString: $0) == "1" } ?? false
    /// The families of checks that report a secret.
    private static let families: Set<String> = ["token", "key", "field", "url", "header", "jwt", "cookie", "card"]
}
