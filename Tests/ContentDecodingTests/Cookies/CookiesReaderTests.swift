import ContentDecoding
import TestSupport
import Testing

@Suite struct CookiesReaderTests {
    static let writer = """
        def cookie(domain, name, path, value, flags=0, expires=0.0):
            texts = [t.encode() + b"\\0" for t in (domain, name, path, value)]
            places, at = [], 56
            for t in texts:
                places.append(at)
                at += len(t)
            return struct.pack("<IIII", at, 0, flags, 0) + struct.pack("<IIII", *places) + bytes(8) \\
                + struct.pack("<dd", expires, 0.0) + b"".join(texts)
        def page(cookies):
            at, places = 12 + 4 * len(cookies), []
            for c in cookies:
                places.append(at)
                at += len(c)
            return b"\\0\\0\\1\\0" + struct.pack("<I", len(cookies)) + b"".join(struct.pack("<I", p) for p in places) \\
                + bytes(4) + b"".join(cookies)
        def file(pages):
            return b"cook" + struct.pack(">I", len(pages)) + b"".join(struct.pack(">I", len(p)) for p in pages) \\
                + b"".join(pages) + bytes(4) + b"\\x07\\x17\\x20\\x05" + binary({"NSHTTPCookieAcceptPolicy": 2})

        """

    private static let sample = """
        jar = file([page([cookie(".example.com", "session", "/", "s3cr3t-value", 1),
            cookie("b.org", "id", "/x", "12", 5, 700000000.0)]), page([cookie("c.net", "t", "/", "third")])])
        write(jar)
        """

    @Test func aCookieComesWithItsFlagsAndItsValueLast() throws {
        let reading = CarrierReading(try Python.bytes(Self.writer + Self.sample))
        #expect(reading.notes.isEmpty)
        let session = reading.leaves.filter { $0.place == "cookie of .example.com, session" }
        #expect(session.map(\.name) == ["secure", "httpOnly", "domain", "path", "session"])
        #expect(session.map(\.number) == [1, 0, nil, nil, nil])
        let value = try #require(session.last)
        #expect(value.text == "s3cr3t-value")
        #expect(value.form == .cookies)
        #expect(reading.fileBytes(of: value) == Array("s3cr3t-value".utf8))
        let kept = reading.leaves.filter { $0.place == "cookie of b.org, id" }
        #expect(kept.first { $0.name == "expires" }?.number == 1_678_307_200)
        #expect(kept.first { $0.name == "httpOnly" }?.number == 1)
        #expect(reading.leaves.contains { $0.place == "cookie of c.net, t" && $0.text == "third" })
        #expect(try reading.only("plist: NSHTTPCookieAcceptPolicy").number == 2)
    }

    @Test func aFileThatIsCutAnywhereIsANote() throws {
        let whole = try Python.bytes(Self.writer + Self.sample)
        let tail = try Python.bytes("write(binary({'NSHTTPCookieAcceptPolicy': 2}))").count + 8
        for count in 8..<whole.count - tail {
            let reading = CarrierReading(Array(whole[..<count]))
            #expect(!reading.notes.isEmpty || reading.fault != nil, "\(count)")
        }
    }
}
