import ContentDecoding
import TestSupport
import Testing

@Suite struct NestedValueTests {
    private func read(_ program: String) throws -> CarrierReading {
        CarrierReading(try Python.bytes("inner = binary({'user': {'token': 'ghp_deep'}})\n" + program))
    }

    @Test(arguments: [
        ("inner", "plist"), ("plistlib.dumps({'user': {'token': 'ghp_deep'}})", "plist"),
        ("b' {\"user\": {\"token\": \"ghp_deep\"}} '", "json"), ("gzip.compress(inner)", "gzip > plist"),
        ("zlib.compress(inner)", "zlib > plist"),
        ("gzip.compress(zlib.compress(gzip.compress(inner)))", "gzip > zlib > gzip > plist"),
        ("base64.b64encode(inner)", "base64 > plist"),
        ("base64.b64encode(gzip.compress(inner))", "base64 > gzip > plist"),
        ("base64.encodebytes(inner)", "base64 > plist"),
        ("base64.b64encode(base64.b64encode(inner))", "base64 > base64 > plist"),
        ("base64.urlsafe_b64encode(inner).rstrip(b'=')", "base64 > plist"), ("inner.hex().encode()", "hex > plist"),
        ("inner.hex().upper().encode()", "hex > plist"),
        ("urllib.parse.quote(json.dumps({'user': {'token': 'ghp_deep'}})).encode()", "percent > json"),
        ("b'data:application/x-plist;base64,' + base64.b64encode(inner)", "base64 > plist"),
    ])
    func whatAValueHoldsIsReadByItsOwnWay(wrapping: String, way: String) throws {
        let reading = try read("write(binary({'state': \(wrapping)}))")
        #expect(reading.notes.isEmpty)
        #expect(try reading.only("state > \(way): user.token").text == "ghp_deep")
    }

    @Test(arguments: ["utf-16-le", "utf-16-be", "utf-16"])
    func dataThatIsTextInUTF16IsThatText(encoding: String) throws {
        let reading = try read(
            """
            write(binary({'token': 'ghp_wide größe 語'.encode('\(encoding)'), 'state':
                '{"user": {"token": "ghp_deep"}}'.encode('\(encoding)'), 'tail': 'ghp_zero'.encode('\(encoding)') + bytes(2)}))
            """)
        let token = try reading.only("token > UTF-16")
        #expect(token.text == "ghp_wide größe 語")
        #expect(token.name == "token")
        #expect(token.kind == .text)
        #expect(try reading.only("state > UTF-16 > json: user.token").text == "ghp_deep")
        #expect(try reading.only("tail > UTF-16").text == "ghp_zero")
        #expect(!reading.leaves.contains { $0.kind == .data })
    }

    @Test func dataThatIsNotTextInUTF16StaysData() throws {
        let reading = try read(
            """
            write(binary({'numbers': struct.pack('<16H', *range(16)), 'odd': 'odd bytes here'.encode('utf-16-le') + b'x',
                'half': 'half a letter'.encode('utf-16-le') + bytes([0, 0xD8, 65, 0]), 'few': 'seven..'.encode('utf-16-le'),
                'words': struct.pack('<8I', *range(65, 73)), 'text': b'plain text, an even'}))
            """)
        #expect(!reading.leaves.contains { $0.form == .utf16 && $0.kind == .text })
        #expect(reading.leaves.count { $0.kind == .data } == 6)
    }

    @Test func textsHoldCarriersToo() throws {
        let reading = try read(
            """
            write(json.dumps({"a": [base64.b64encode(inner).decode(), json.dumps({"token": "ghp_two"})]}).encode())
            """)
        #expect(try reading.only("a[0] > base64 > plist: user.token").text == "ghp_deep")
        #expect(try reading.only("a[1] > json: token").text == "ghp_two")
    }

    @Test func textInLettersKeepsTheNameOfItsValue() throws {
        let reading = try read(
            """
            write(binary({"password": base64.b64encode(b"correct horse battery").decode(), "pin": b"hunter-2 staple".hex()}))
            """)
        let password = try reading.only("password > base64")
        #expect(password.text == "correct horse battery")
        #expect(password.name == "password")
        #expect(try reading.only("pin > hex").text == "hunter-2 staple")
    }

    @Test func unencodedValuesHaveTheirPlaceInTheFile() throws {
        let reading = try read("write(binary({'outer': binary({'state': inner})}))")
        let token = try reading.only("outer > plist: state > plist: user.token")
        #expect(reading.fileBytes(of: token) == Array("ghp_deep".utf8))
        let compressed = try read("write(binary({'state': gzip.compress(inner)}))")
        #expect(try compressed.only("state > gzip > plist: user.token").range == nil)
    }

    @Test func tokensAndWordsHoldNothing() throws {
        let reading = try read(
            """
            random.seed(5)
            letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
            values = ["".join(random.choice(letters) for _ in range(random.randrange(12, 64))) for _ in range(20000)]
            values += ["%032x" % random.getrandbits(128) for _ in range(5000)]
            values += ["NSUserDefaultsDidChange", "applicationSupportDirectory", "{not json}", "[INFO] started", "<html></html>",
                "100% sure", "https://example.org/a%20b", "{0} of {1}", "data:,hello", "====", "x" * 1000, " " * 1000]
            write(json.dumps(values).encode())
            """)
        #expect(reading.leaves.filter { $0.place.contains(" > ") }.map(\.text).isEmpty)
        #expect(reading.notes.isEmpty)
    }

    @Test func randomDataHoldsNothing() throws {
        let reading = try read(
            """
            random.seed(6)
            write(binary([bytes([0x78, 0x9c]) + random.randbytes(60) for _ in range(2000)]
                + [random.randbytes(random.randrange(8, 64)) for _ in range(20000)]))
            """)
        #expect(reading.leaves.filter { $0.place.contains(" > ") }.count <= 2)
    }

    @Test func aRunOfRunningTextIsReadAsWhatItRepresents() throws {
        let run = try Python.bytes("write(base64.b64encode(binary({'token': 'ghp_run'})))")
        var found: [FoundValue] = []
        let walk = ValueWalk(budget: CarrierBudget()) { found.append(FoundValue($0)) }
        let isNested = try run.withUnsafeBytes { try Carriers.readRun($0, encoding: .base64, walk) }
        #expect(isNested)
        #expect(found.map(\.place) == ["base64 > plist: token"])
        let word = Array("justSomeLettersThatMeanNothing".utf8)
        #expect(try !word.withUnsafeBytes { try Carriers.readRun($0, encoding: .base64, walk) })
    }

    @Test func nestedValuesOfFreedOnesAreFreed() throws {
        let inner = try Python.bytes("write(json.dumps({'token': 'ghp_old'}).encode())")
        var found: [FoundValue] = []
        let walk = ValueWalk(budget: CarrierBudget()) { found.append(FoundValue($0)) }
        try inner.withUnsafeBytes { _ = try Carriers.readValue($0, isText: true, at: 100, presence: .freed, walk) }
        #expect(found.map(\.presence) == [.freed])
        #expect(found.first?.range?.lowerBound == 111)
    }
}
