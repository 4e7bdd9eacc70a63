import Glibc
import TestSupport
import Testing

/// Tests of audits with few free descriptors.
struct AuditDescriptorTests {
    /// An audit that cannot open the vault for lack of descriptors fails, and makes no report without keys.
    @Test func anAuditWithoutDescriptorsFailsOrHasTheKeys() throws {
        let sandbox = try Sandbox.initialised()
        for name in ["a", "b", "sub/c"] { try sandbox.put(name, "{}") }
        var outcomes: Set<Bool> = []
        for limit in 6...32 {
            let result = try sandbox.shell("ulimit -n \(limit); exec $S audit -f json")
            let isReport = result.exitCode == 0 || result.exitCode == 1
            if isReport {
                #expect(result.outputText.contains(#""withKeys":true"#), "\(limit)")
            } else {
                #expect(result.output.isEmpty && !result.errorText.isEmpty, "\(limit)")
            }
            outcomes.insert(isReport)
        }
        #expect(outcomes == [true, false])
    }
}
