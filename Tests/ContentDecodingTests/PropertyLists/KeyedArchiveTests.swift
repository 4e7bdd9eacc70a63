import ContentDecoding
import TestSupport
import Testing

@Suite struct KeyedArchiveTests {
    /// A script that writes archives in the format of `NSKeyedArchiver`: `box` adds an object and returns the reference
    /// to it.
    static let archiver = """
        class Archive:
            def __init__(self): self.objects = ["$null"]; self.classes = {}
            def add(self, value): self.objects.append(value); return UID(len(self.objects) - 1)
            def cls(self, *names):
                if names not in self.classes:
                    self.classes[names] = self.add({"$classname": names[0], "$classes": list(names)})
                return self.classes[names]
            def box(self, value):
                if value is None: return UID(0)
                if isinstance(value, UID): return value
                if isinstance(value, dict):
                    return self.add({"$class": self.cls("NSMutableDictionary", "NSDictionary", "NSObject"),
                        "NS.keys": [self.box(k) for k in value], "NS.objects": [self.box(v) for v in value.values()]})
                if isinstance(value, list):
                    return self.add({"$class": self.cls("NSArray", "NSObject"), "NS.objects": [self.box(v) for v in value]})
                return self.add(value)
            def object(self, name, **members):
                return self.add(dict(members, **{"$class": self.cls(name, "NSObject")}))
            def value(self, **roots):
                return {"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": roots, "$objects": self.objects}
        def inXML(item):
            if isinstance(item, UID): return {"CF$UID": item.data}
            if isinstance(item, list): return [inXML(child) for child in item]
            if isinstance(item, dict): return {key: inXML(child) for key, child in item.items()}
            return item
        a = Archive()

        """

    private func read(_ program: String) throws -> CarrierReading {
        CarrierReading(try Python.bytes(Self.archiver + program))
    }

    private static let account = """
        user = a.object("Account", token=a.add("ghp_user"), age=41, friends=a.box(["anna", "ben"]),
            blob=a.object("NSMutableData", **{"NS.data": b"\\x01\\x02raw"}),
            title=a.object("NSMutableString", **{"NS.string": a.add("doctor")}),
            created=a.object("NSDate", **{"NS.time": 1.5}),
            home=a.object("NSURL", **{"NS.base": UID(0), "NS.relative": a.add("https://u:p@example.org")}),
            extras=a.box({"pin": "1234", 7: "seven"}))
        top = a.value(root=a.box({"user": user}))

        """

    @Test(arguments: ["write(binary(top))", "write(plistlib.dumps(inXML(top), fmt=FMT_XML))"])
    func leavesAreCalledByTheWayAProgramGoesToThem(save: String) throws {
        let reading = try read(Self.account + save)
        #expect(reading.notes.isEmpty)
        let token = try reading.only("root.user.token")
        #expect(token.text == "ghp_user")
        #expect(token.name == "token")
        #expect(token.form == .keyedArchive)
        #expect(try reading.only("root.user.age").number == 41)
        #expect(try reading.only("root.user.friends[1]").text == "ben")
        #expect(try reading.only("root.user.blob").bytes == [1, 2] + Array("raw".utf8))
        #expect(try reading.only("root.user.title").text == "doctor")
        #expect(try reading.only("root.user.title").name == "title")
        #expect(try reading.only("root.user.created").number == 1.5)
        #expect(try reading.only("root.user.home").text == "https://u:p@example.org")
        #expect(try reading.only("root.user.extras.pin").text == "1234")
        #expect(try reading.only("root.user.extras.7").text == "seven")
        #expect(Set(reading.leaves.map(\.presence)) == [.live])
        #expect(reading.leaves.count == 10)
    }

    @Test func unreachableObjectsAreReadByTheirClass() throws {
        let reading = try read(
            """
            old = a.object("Session", secret=a.add("left behind"))
            a.add("alone")
            write(binary(a.value(root=a.box(["kept"]))))
            """)
        #expect(try reading.only("root[0]").presence == .live)
        let left = try #require(reading.leaves.first { $0.text == "left behind" })
        #expect(left.presence == .freed)
        #expect(left.name == "secret")
        #expect(left.place.hasPrefix("unreferenced Session ") && left.place.hasSuffix(", secret"))
        #expect(reading.leaves.first { $0.text == "alone" }?.presence == .freed)
        #expect(reading.leaves.count == 3)
    }

    @Test func aCredentialOfACustomClassKeepsItsNames() throws {
        let reading = try read(
            """
            c = a.object("NSURLCredential", user=a.add("anna"), password=a.add("hunter2"), persistence=2)
            write(binary(a.value(credential=c, other=a.add("x"))))
            """)
        #expect(try reading.only("credential.password").text == "hunter2")
        #expect(try reading.only("other").text == "x")
    }

    @Test func archivesInArchivesAreRead() throws {
        let reading = try read(
            """
            inner = Archive()
            deep = binary(inner.value(root=inner.box({"token": "ghp_deep"})))
            write(binary(a.value(root=a.box({"state": deep, "text": base64.b64encode(deep).decode()}))))
            """)
        #expect(try reading.only("root.state > plist: root.token").text == "ghp_deep")
        #expect(try reading.only("root.text > base64 > plist: root.token").text == "ghp_deep")
        let token = try reading.only("root.state > plist: root.token")
        #expect(reading.fileBytes(of: token) == Array("ghp_deep".utf8))
        #expect(try reading.only("root.text > base64 > plist: root.token").range == nil)
    }

    @Test func oldSetsAndTextsWithAttributesHaveShortWays() throws {
        let reading = try read(
            """
            s = a.object("NSOrderedSet", **{"NS.object.0": a.add("first"), "NS.object.1": a.add("second")})
            t = a.object("NSAttributedString", NSString=a.add("bold"), NSAttributes=a.box({"font": "x"}))
            write(binary(a.value(root=a.box({"set": s, "note": t}))))
            """)
        #expect(try reading.only("root.set[1]").text == "second")
        #expect(try reading.only("root.note").text == "bold")
        #expect(try reading.only("root.note.NSAttributes.font").text == "x")
    }

    @Test func cyclesAndSharedObjectsAreReadOnce() throws {
        let reading = try read(
            """
            laughs = a.box(["bottom"])
            for _ in range(60): laughs = a.box([laughs] * 10)
            me = a.object("Node", value=a.add("mine"))
            a.objects[me.data]["next"] = me
            write(binary(a.value(root=a.box({"laughs": laughs, "me": me}))))
            """)
        #expect(reading.notes.isEmpty)
        #expect(reading.leaves.filter { $0.text == "bottom" }.count == 1)
        #expect(try reading.only("root.me.value").text == "mine")
        #expect(reading.leaves.count == 2)
    }

    @Test func aChainOfManyNodesIsFollowedToItsEnd() throws {
        let reading = try read(
            """
            next = UID(0)
            for i in range(5000): next = a.object("Node", value=a.add("value %d" % i), next=next)
            write(binary(a.value(root=next)))
            """)
        #expect(reading.notes.isEmpty)
        #expect(Set(reading.leaves.map(\.text)).count == 5000)
        #expect(Set(reading.leaves.map(\.presence)) == [.live])
        #expect(reading.leaves.allSatisfy { $0.name == "value" })
    }

    @Test func referencesThatLeadNowhereAreNotes() throws {
        let reading = try read(#"write(binary(a.value(root=a.box({"a": UID(9999), "b": "fine"}))))"#)
        #expect(try reading.only("root.b").text == "fine")
        #expect(reading.notes.map(\.place) == ["root.a"])
    }

    @Test func listsThatManyBoxesShareAreReadOnce() throws {
        let reading = try read(
            """
            names = [a.add("k%d" % i) for i in range(300)]
            values = [a.add("v%d" % i) for i in range(300)]
            cls = a.cls("NSDictionary", "NSObject")
            boxes = [a.add({"$class": cls, "NS.keys": names, "NS.objects": values}) for _ in range(300)]
            write(binary(a.value(root=a.add({"$class": a.cls("NSArray"), "NS.objects": boxes}))))
            """)
        #expect(try reading.only("root[0].k7").text == "v7")
        #expect(reading.leaves.count == 300)
    }
}
