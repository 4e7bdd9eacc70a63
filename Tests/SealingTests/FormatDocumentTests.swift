import CryptoPrimitives
import Glibc
import Sealing
import TestSupport
import Testing

/// The document, the vectors, the second reader and the generator say the same.
@Suite struct FormatDocumentTests {
    private static let places: [String] = ["/usr/bin/python3", "/usr/local/bin/python3", "/bin/python3"]
    private static let python: String? = places.first { access($0, X_OK) == 0 }

    @Test(.enabled(if: python != nil, "python3 is not installed"))
    func aReaderWrittenFromTheDocumentAgreesOnEveryVector() throws {
        let result = try ChildProcess.run(
            try #require(Self.python), [repositoryPath("Fixtures/vectors/reader.py"), BlobVector.folder])
        #expect(result.status == .exited(0), "\(result.outputText)\(result.errorText)")
        #expect(result.outputText.hasPrefix("\(BlobVector.all.count) blobs, 0 not"))
    }

    @Test(.enabled(if: python != nil, "python3 is not installed"))
    func thatReaderSeesAWrongExpectation() throws {
        let folder = try TemporaryDirectory()
        let name = BlobVector.folder + "/good-record-json"
        let json = String(decoding: try SystemFile.read(name + ".json"), as: UTF8.self)
        try SystemFile.write(folder.path("wrong.seal"), try SystemFile.read(name + ".seal"))
        try folder.file("wrong.json", json.split(separator: #""keyEpoch": 3"#).joined(separator: #""keyEpoch": 4"#))
        let result = try ChildProcess.run(
            try #require(Self.python), [repositoryPath("Fixtures/vectors/reader.py"), folder.path])
        #expect(result.status == .exited(1))
        #expect(result.outputText.contains("wrongEpoch"))
    }

    /// `make vectors` gives the files that are there, byte by byte, and removes what does not belong to them.
    @Test func regeneratingGivesTheSameFiles() throws {
        let folder = try TemporaryDirectory()
        try folder.directory("blobs")
        try folder.file("blobs/r99-stale.json", "{}")
        let result = try ChildProcess.run("sealed-probe", ["vectors", folder.path])
        try #require(result.status == .exited(0), "\(result.outputText)")
        let names = try SystemFile.names(BlobVector.folder)
        #expect(try SystemFile.names(folder.path("blobs")) == names)
        for name in names {
            let isSame =
                try SystemFile.read(folder.path("blobs/\(name)")) == SystemFile.read("\(BlobVector.folder)/\(name)")
            #expect(isSame, "\(name): run make vectors")
        }
    }

    @Test func theWorkedExampleIsTheVector() throws {
        let vector = try BlobVector(named: "good-record-json")
        let header = Array(vector.blob[..<144])
        let derived = vector.key.withUnsafeBytes { key in
            BLAKE2b.hash(header, key: Array(key), personalization: Personalization("SealedState.sub1"), count: 64)
        }
        let example = try workedExample()
        let values = [
            vector.blob[16..<32], vector.blob[32..<48], vector.blob[48..<64], vector.blob[112..<144], derived[..<32],
            derived[32...], vector.blob[176..<187], vector.blob[187...], vector.blob[...],
        ]
        for value in values {
            #expect(example.contains(Array(value).withUnsafeBytes { $0.hexadecimal }))
        }
    }

    /// The document's last section without white space, so that a value may run over lines.
    private func workedExample() throws -> String {
        let text = String(decoding: try SystemFile.read(repositoryPath("docs/format.md")), as: UTF8.self)
        let section = try #require(text.split(separator: "## 9. Worked example").last)
        return String(section.filter { !$0.isWhitespace })
    }

    @Test func theDocumentHasEveryRuleAndEveryPersonalisation() throws {
        let text = String(decoding: try SystemFile.read(repositoryPath("docs/format.md")), as: UTF8.self)
        for rule in 1...22 { #expect(text.contains("- **R\(rule)** ")) }
        #expect(!text.contains("**R23**"))
        for use in ["grp1", "nam1", "kid1", "slt1", "sub1"] { #expect(text.contains("`SealedState.\(use)`")) }
        #expect(text.contains("for \(BlobVector.all.count) blobs"))
    }
}
