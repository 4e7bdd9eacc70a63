import TestSupport
import Testing

@testable import PropertyLists

/// Tests against Python's `plistlib`, a reader and writer without code in common with Apple's.
@Suite struct PythonOracleTests {
    /// A script that reads a file and writes it in the other formats.
    private static let script = """
        import plistlib, sys
        value = plistlib.load(open(sys.argv[1], "rb"))
        for form, name in ((plistlib.FMT_XML, "xml"), (plistlib.FMT_BINARY, "binary")):
            plistlib.dump(value, open(sys.argv[1] + "." + name, "wb"), fmt=form)
        """

    @Test(arguments: [PropertyListFormat.binary, .xml], 0..<6)
    func writtenListsPassThroughPython(_ format: PropertyListFormat, _ seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        var generator = SeededGenerator(seed: seed)
        let value =
            seed == 0 ? Samples.everything : .array((0..<50).map { _ in Samples.random(using: &generator) })
        let path = directory.path("list")
        try SystemFile.write(path, try PropertyList.bytes(of: value, as: format), mode: 0o600)
        let result = try ChildProcess.run(Python.path, ["-c", Self.script, path])
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(try PropertyList.parse(SystemFile.read(path + ".binary")).value == value)
        #expect(try PropertyList.parse(SystemFile.read(path + ".xml")).value == value)
        withExtendedLifetime(directory) {}
    }
}
