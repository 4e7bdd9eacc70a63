import ContainerAudit
import SealedState
import TestSupport
import Testing

@Suite struct ReportTextTests {
    @Test(arguments: [0, 3, 600]) func theTextInPiecesIsThatOfTheWhole(files: Int) throws {
        let sandbox = try ScanSandbox()
        for number in 0..<files { try sandbox.put("f\(number)", "text \(number)") }
        let report = try sandbox.audit()
        #expect(report.files.count == files)
        #expect(try report.json() == JSONCodec.encode(report))
    }
}
