import ContentDecoding
import TestSupport
import Testing

/// Tests of stores as Core Data writes them, as far as their format is known from outside.
@Suite struct CoreDataTests {
    let folder: DatabaseFolder

    init() throws {
        folder = try DatabaseFolder()
        try folder.python(
            """
            db.execute('CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)')
            db.execute('CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)')
            db.execute('INSERT INTO Z_METADATA VALUES (1, ?, ?)',
                ('uuid', plistlib.dumps({'owner': {'note': 'planted-metadata'}}, fmt=plistlib.FMT_BINARY)))
            db.execute('''CREATE TABLE ZACCOUNT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZACCESSTOKEN VARCHAR,
                ZAVATAR BLOB, ZSTATE BLOB, ZOUTSIDE BLOB)''')
            state = plistlib.dumps({'session': 'planted-inline'}, fmt=plistlib.FMT_BINARY)
            name = '0F6D4C12-1111-2222-3333-444455556666'
            os.makedirs('.Account_SUPPORT/_EXTERNAL_DATA')
            open('.Account_SUPPORT/_EXTERNAL_DATA/' + name, 'wb').write(
                plistlib.dumps({'key': 'planted-outside'}, fmt=plistlib.FMT_BINARY))
            db.execute('INSERT INTO ZACCOUNT VALUES (1, 1, 1, ?, ?, ?, ?)',
                ('planted-attribute', bytes(200), b'\\1' + state, b'\\2' + name.encode() + b'\\0'))
            db.execute('INSERT INTO ZACCOUNT VALUES (2, 1, 1, ?, ?, ?, ?)',
                ('x', b'', state, b'\\2../../../../../../../../../../etc/passwd\\0'))
            """, name: "Account.sqlite")
    }

    @Test func attributesAreCalledAsInTheModel() throws {
        let reading = try folder.read("Account.sqlite")
        #expect(reading.unread.isEmpty)
        let token = try #require(reading.exactly("planted-attribute").first)
        #expect(token.name == "accesstoken")
        #expect(token.trail == "table ZACCOUNT, row 1, ZACCESSTOKEN")
    }

    @Test func valuesInsideAndOutsideTheStoreAreRead() throws {
        let reading = try folder.read("Account.sqlite")
        let found = Dictionary(grouping: reading.leaves, by: \.text).mapValues { $0.map(\.trail) }
        #expect(found["planted-metadata"] == ["table Z_METADATA, row 1, Z_PLIST > plist: owner.note"])
        #expect(
            found["planted-inline"] == [
                "table ZACCOUNT, row 1, ZSTATE > plist: session", "table ZACCOUNT, row 2, ZSTATE > plist: session",
            ])
        #expect(found["planted-outside"] == ["table ZACCOUNT, row 1, ZOUTSIDE > plist: key"])
        #expect(reading.holding("root:").isEmpty)
    }
}
