import TestSupport
import Testing

/// Tests of malformed identifiers, property lists, entitlements, profiles and Xcode projects at the public API, each in
/// a process of its own: a refusal with a code, and little memory. The generator is `sealed-probe`'s;
/// `Fixtures/hostile/README.md` describes it.
@Suite struct HostileInputTests {
    private struct Row {
        let name: String
        let entryPoint: String
        let code: String
        /// Memory, in KiB.
        let memory: Int

        init?(_ line: Substring) {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            // The last one is the processor time, which no test judges.
            guard fields.count == 5, let memory = Int(fields[3]), Int(fields[4]) != nil else { return nil }
            (name, entryPoint, code) = (String(fields[0]), String(fields[1]), String(fields[2]))
            self.memory = memory
        }
    }

    /// The largest memory that a refusal may take, in KiB.
    private static let limit = 8 * 1024
    /// The same limit for accepted input: a settings file of a megabyte is many small strings.
    private static let readLimit = 64 * 1024

    @Test func eachIsRefusedWithACodeAndLittleMemory() throws {
        let result = try ChildProcess.run(
            "sealed-probe", ["hostile-costs"], environment: ["SWIFT_BACKTRACE": "enable=no"], timeLimit: .seconds(600))
        #expect(result.exitCode == 0, "\(result.status): after \(result.outputText.split(separator: "\n").last ?? "")")
        let lines = result.outputText.split(separator: "\n")
        let all = lines.compactMap(Row.init)
        let controls = all.filter { $0.name.hasPrefix("control: ") }
        #expect(controls.count == 8 && controls.allSatisfy { $0.code == "accepted" }, "\(controls)")
        let rows = all.filter { !$0.name.hasPrefix("control: ") }
        #expect(all.count == lines.count && rows.count >= 200, "\(rows.count)")
        #expect(Set(rows.map(\.name)).count == rows.count)
        let read = ["load", "settings", "info"]
        for row in rows {
            #expect(row.code != "accepted", "\(row.name)")
            let limit = read.contains(row.entryPoint) ? Self.readLimit : Self.limit
            #expect(row.memory <= limit, "\(row.name): \(row.memory) KiB")
        }
        for row in rows where row.entryPoint == "project" { #expect(row.code == "ENT024", "\(row.name)") }
        let refusing = ["group", "accessGroup", "propertyList", "entitlements", "profile", "project"]
        for entryPoint in refusing + read {
            let own = rows.filter { $0.entryPoint == entryPoint }
            #expect(own.count >= (refusing.contains(entryPoint) ? 20 : 10), "\(entryPoint): \(own.count)")
        }
    }
}
