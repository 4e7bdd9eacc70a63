import CryptoPrimitives
import Sealing
import TestSupport
import Testing

/// Tests that the document, the vectors, the second reader and the generator agree.
@Suite struct FormatDocumentTests {
    private static let reader = BlobVector.folder + "/reader.py"

    @Test func aReaderWrittenFromTheDocumentAgreesOnEveryVector() throws {
        let result = try ChildProcess.run(Python.path, ["-B", Self.reader])
        #expect(result.status == .exited(0), "\(result.outputText)\(result.errorText)")
        // libsodium is available, because this library is linked with it. The reader may skip only the manifest's
        // schema.
        #expect(result.outputText.contains("blob: \(BlobVector.entries.count) vectors, 0 not as expected"))
        for section in Self.sections {
            let count = VectorManifest.entries(section, as: AnyVector.self).count
            #expect(count > 0 && result.outputText.contains("\n\(section): \(count) vectors, 0 not as expected\n"))
        }
    }

    private struct AnyVector: Decodable {
        let name: String
    }

    /// Every section but `blob`.
    private static let sections = [
        "vault", "backup", "keyFile", "secretKey", "protectedKey", "watermarks", "accessLog", "tokenDigest", "roster",
        "signedRecord", "streamDigest", "channel",
    ]

    @Test func theManifestHasTheFormOfItsSchema() throws {
        let result = try readOneWithSchemas(in: BlobVector.folder)
        #expect(result.status == .exited(0))
        #expect(result.outputText.contains("schema.json: the manifest has its form"))
        let folder = try copyOfTheManifest { $0.replacing(#""keySuite": 1,"#, with: "") }
        let refused = try readOneWithSchemas(in: folder.path)
        #expect(refused.status == .exited(1))
        #expect(refused.errorText.contains("keySuite"))
    }

    private func readOneWithSchemas(in folder: String) throws -> ChildResult {
        try ChildProcess.run(Python.pathWithSchemas, ["-B", Self.reader, folder, "good-record-raw"])
    }

    @Test func thePythonReaderDetectsAWrongExpectation() throws {
        let folder = try copyOfTheManifest { $0.replacing(#""keyEpoch": 3"#, with: #""keyEpoch": 4"#) }
        let result = try ChildProcess.run(
            Python.path, ["-B", Self.reader, folder.path, "good-record-raw"])
        #expect(result.status == .exited(1))
        #expect(result.outputText.contains("wrongEpoch"))
    }

    @Test func thePythonReaderDetectsAFileOutsideTheManifest() throws {
        let folder = try copyOfTheManifest { $0 }
        try SystemFile.write(folder.path("blobs/good-record-raw.seal"), [1, 2, 3])
        let result = try ChildProcess.run(
            Python.path, ["-B", Self.reader, folder.path, "good-record-raw"])
        #expect(result.status == .exited(1))
        #expect(result.outputText.contains("good-record-raw: SHA-256"))
    }

    /// Creates a copy of the vectors in a separate folder, without the generated streams.
    private func copyOfTheManifest(_ change: (String) -> String) throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        try folder.directory("blobs")
        for vector in BlobVector.all {
            try SystemFile.write(folder.path("blobs/\(vector.name).seal"), vector.blob)
        }
        for name in ["manifest.json", "schema.json"] {
            let text = String(decoding: try SystemFile.read(BlobVector.folder + "/" + name), as: UTF8.self)
            try folder.file(name, name == "manifest.json" ? change(text) : text)
        }
        return folder
    }

    /// `make vectors` writes the same files, byte for byte, and removes other ones.
    @Test func regeneratingGivesTheSameFiles() throws {
        let folder = try TemporaryDirectory()
        let sections = ["blobs"] + Self.sections.filter { $0 != "tokenDigest" }
        for section in sections {
            try folder.directory(section)
            try folder.file("\(section)/stale.seal", "")
        }
        let blobs = try ChildProcess.run("sealed-probe", ["vectors", folder.path])
        try #require(blobs.status == .exited(0), "\(blobs.outputText)")
        let generator = BlobVector.folder + "/make_vectors.py"
        let others = try ChildProcess.run(Python.path, ["-B", generator, folder.path])
        try #require(others.status == .exited(0), "\(others.outputText)\(others.errorText)")
        var differing: [String] = []
        for section in sections {
            let names = try SystemFile.names("\(BlobVector.folder)/\(section)")
            let made = try SystemFile.names(folder.path(section))
            differing += Set(names).symmetricDifference(made).map { "\(section)/\($0)" }
            differing += try names.filter(made.contains).map { "\(section)/\($0)" }.filter { try !isSame($0, folder) }
        }
        if try !isSame("manifest.json", folder) { differing.append("manifest.json") }
        #expect(
            differing.isEmpty,
            "The committed vectors are not those of their generators: run make vectors, and commit what it changes.")
    }

    private func isSame(_ file: String, _ folder: TemporaryDirectory) throws -> Bool {
        try SystemFile.read(folder.path(file)) == SystemFile.read("\(BlobVector.folder)/\(file)")
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

    /// Returns the document's last section without white space, so that a value may extend over several lines.
    private func workedExample() throws -> String {
        let text = String(decoding: try SystemFile.read(repositoryPath("docs/spec/format.md")), as: UTF8.self)
        let section = try #require(text.split(separator: "## 9. Worked example").last)
        return String(section.filter { !$0.isWhitespace })
    }

    @Test func theDocumentHasEveryRuleAndEveryPersonalisation() throws {
        let text = String(decoding: try SystemFile.read(repositoryPath("docs/spec/format.md")), as: UTF8.self)
        for rule in 1...25 { #expect(text.contains("- **R\(rule)** ")) }
        #expect(!text.contains("**R26**"))
        for rule in 1...3 { #expect(text.contains("- **D\(rule)** ")) }
        #expect(!text.contains("**D4**"))
        for entry in BlobVector.entries { #expect(entry.expected.rule.map { text.contains("**\($0)**") } ?? true) }
        let codes = Set(BlobVector.entries.map(\.expected.result)).subtracting(["ok"])
        for code in codes { #expect(text.contains("`\(code)`")) }
        for use in ["grp1", "nam1", "kid1", "slt1", "sub1", "sch1", "sdg1", "wid1", "rct1", "rsg1", "wrk1"] {
            #expect(text.contains("`SealedState.\(use)`"))
        }
    }
}
