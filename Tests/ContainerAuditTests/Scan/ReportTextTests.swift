import ContainerAudit
import SealedState
import TestSupport
import Testing

@Suite struct ReportTextTests {
    @Test(arguments: [0, 3, 600]) func theTextInPiecesIsThatOfTheWhole(files: Int) throws {
        let yard = try ScanYard()
        for number in 0..<files { try yard.put("f\(number)", "text \(number)") }
        let report = try yard.audit()
        #expect(report.files.count == files)
        #expect(try report.json() == JSONCodec.encode(report))
    }
}
