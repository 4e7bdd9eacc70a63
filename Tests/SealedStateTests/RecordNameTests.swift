import TestSupport
import Testing

@testable import SealedState

@Suite struct RecordNameTests {
    static let valid = [
        "a", "widget_auth_state", "accounts/ada", "a.b-c_D9", "1", "-", "_", "a..b", "a.", "CON", "a.sealed.x",
        "_sealed2/a", "a/_sealed", "_Sealed",
        "1/2/3/4/5/6/7/8", String(repeating: "a", count: 200),
        String(repeating: "a", count: 200) + "/" + String(repeating: "b", count: 200),
    ]
    static let invalid = [
        "", "/", "a/", "/a", "a//b", ".", "..", ".a", "a/.b", "../a", "a/../b", "a b", "a\n", "a\u{0}b", "a\\b", "ä",
        "é",
        "e\u{301}", "日本", "\u{212A}", "a.sealed", "a.sealed/b", ".sealed", "1/2/3/4/5/6/7/8/9",
        String(repeating: "a", count: 201), String(repeating: "a/", count: 7) + String(repeating: "b", count: 201),
        Array(repeating: String(repeating: "c", count: 150), count: 4).joined(separator: "/"),
    ]

    @Test(arguments: valid) func aValidNameIsKeptAsItIs(_ name: String) throws {
        #expect(try RecordName(name).text == name)
    }

    @Test(arguments: invalid) func anInvalidNameIsRefused(_ name: String) {
        #expect(code { _ = try RecordName(name) } == .invalidName)
    }

    @Test func reservedNamesAreRefused() throws {
        let store = try StoreFixture().open()
        for name in ["_sealed", "_sealed/leases/refresh"] {
            #expect(code { _ = try RecordName(name) } == .invalidName)
            #expect(code { try store.write(Note(text: "x"), named: name) } == .invalidName)
            #expect(try RecordName(reserved: name).text == name)
            #expect(try RecordName(stored: name).isReserved)
            let place = try store.places.place(reserved: name)
            #expect(try store.writer.write(Note(text: name), at: place, store.writer.request()) == 1)
            // A single use does not make the name known.
            #expect(code { _ = try store.read(Note.self, named: name) } == .invalidName)
            #expect(try store.reader.checkedSnapshot(of: Note.self, at: place).value.text == name)
        }
        try store.write(Note(text: "x"))
        #expect(try store.list().map(\.name) == ["note"])
        #expect(try store.list(includingReserved: true).map(\.name) == ["_sealed", "_sealed/leases/refresh", "note"])
        #expect(code { _ = try RecordName(reserved: "note") } == .invalidName)
        #expect(code { _ = try RecordName(reserved: "_sealed/../a") } == .invalidName)
        #expect(try !RecordName(stored: "note").isReserved)
    }

    @Test func everyValidNameCanBeWrittenAndRead() throws {
        let store = try StoreFixture().open()
        for name in Self.valid {
            try store.write(Note(text: name), named: name)
        }
        for name in Self.valid { #expect(try store.read(Note.self, named: name).text == name) }
        #expect(try store.list().map(\.name) == Self.valid.sorted())
    }

    @Test func anInvalidNameTouchesNothing() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let before = try fixture.files()
        for name in Self.invalid {
            #expect(code { try store.write(Note(text: "x"), named: name) } == .invalidName)
            #expect(code { _ = try store.read(Note.self, named: name) } == .invalidName)
            #expect(code { try store.update(Note.self, named: name) { _ in } } == .invalidName)
            #expect(code { try store.delete(named: name) } == .invalidName)
        }
        #expect(try fixture.files() == before)
    }

    // U+212A, the Kelvin sign, equals K for Swift's strings; the store remembers names it has seen.
    @Test func anInvalidNameStaysInvalidBesideAnEqualOne() throws {
        let store = try StoreFixture().open()
        try store.write(Note(text: "x"), named: "Kelvin")
        #expect("Kelvin" == "\u{212A}elvin")
        #expect(code { _ = try store.read(Note.self, named: "\u{212A}elvin") } == .invalidName)
    }

    @Test func theRefusalShowsControlCharactersEscaped() throws {
        let error = try #require(refusal { _ = try RecordName("a\u{1B}[2J") })
        #expect(!error.description.unicodeScalars.contains("\u{1B}"))
    }
}
