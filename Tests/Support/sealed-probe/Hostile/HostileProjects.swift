/// Invalid Xcode projects, and files of projects that are costly to read.
enum HostileProjects {
    static var cases: [HostileCase] {
        named(.project, refused) + named(.load, loads) + named(.settings, settings) + named(.info, infos)
    }

    private typealias Case = (String, () -> [UInt8])

    private static func named(_ entryPoint: HostileCase.EntryPoint, _ cases: [Case]) -> [HostileCase] {
        cases.map { name, bytes in HostileCase(entryPoint, "\(entryPoint.rawValue): \(name)", bytes) }
    }

    private static func text(_ name: String, _ text: @escaping () -> String) -> Case { (name, { Array(text().utf8) }) }

    /// Returns a project of one app. The last of two entries with the same key counts.
    static func project(
        app: String = "", shared: String = "", objects: String = "", targets: String = "T", configurations: String = "C"
    ) -> String {
        """
        // !$*UTF8*$!
        { objects = {
        P = {isa = PBXProject; buildConfigurationList = LP; mainGroup = G; targets = (\(targets));};
        LP = {isa = XCConfigurationList; buildConfigurations = (CP);};
        CP = {isa = XCBuildConfiguration; name = Release; baseConfigurationReference = F; buildSettings = {
        SDKROOT = iphoneos; DEVELOPMENT_TEAM = ABCDE12345; \(shared)};};
        G = {isa = PBXGroup; children = (F); sourceTree = "<group>";};
        F = {isa = PBXFileReference; path = Base.xcconfig; sourceTree = "<group>";};
        T = {isa = PBXNativeTarget; name = App; buildConfigurationList = L; buildPhases = (E); productReference = R;
        productType = "com.apple.product-type.application"; dependencies = (D);};
        L = {isa = XCConfigurationList; buildConfigurations = (\(configurations));};
        C = {isa = XCBuildConfiguration; name = Release; buildSettings = {PRODUCT_BUNDLE_IDENTIFIER = com.example.app;
        CODE_SIGN_ENTITLEMENTS = App.entitlements; \(app)};};
        \(objects)}; rootObject = P; }

        """
    }

    private static func rows(_ count: Int, _ row: (Int) -> String) -> String { (0..<count).map(row).joined() }

    // Each of these is ENT024.
    private static var refused: [Case] {
        let whole = project()
        let cuts = [0, 10, 100, 400, 600].map { count in
            text("cut after \(count) characters") { String(whole.prefix(count)) }
        }
        let texts: [(String, String)] = [
            ("text", "hello"), ("no objects", "{rootObject = P;}"), ("no root", "{objects = {};}"),
            ("objects that are a list", "{objects = (); rootObject = P;}"),
            ("a root that is a list", "{objects = {}; rootObject = ();}"), ("an array", "({objects = {};})"),
            ("marks of a merge", whole.replacing("T = {", with: "<<<<<<< ours\nT = {")),
            ("something behind its end", whole + "}"), ("a string without end", whole + "\""),
            ("a comment without end", "/*" + whole), ("half a character", "{a = \"\\Ud83d\"; }"),
            ("XML with entities", "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><string>&a;</string></plist>"),
        ]
        let large: [Case] = [
            text("100,000 open arrays") { "(".row(100_000) }, text("50,000 open dictionaries") { "{a=".row(50_000) },
            text("100,000 escapes without end") { "{a = \"" + "\\n".row(100_000) },
            text("a key of 1 MiB") { project(objects: "a".row(1 << 20) + " = {};") },
            text("combining marks") { project(app: "A = \"e" + "\u{301}\u{316}".row(100_000) + "\";") },
            text("a string of 256 KiB without end") { "{a = \"" + "a".row(1 << 18) },
            ("a cycle", { BinaryListFile([[0xD1, 1, 0], [0x51, 0x61]]).bytes }),
            ("a billion values", { BinaryListFile.doubling(30).bytes }),
            ("no UTF-8", { Array(whole.utf8) + [0xC0, 0x80] }),
        ]
        return cuts + texts.map { name, body in text(name) { body } } + large
    }

    // Each of these is read.
    private static var loads: [Case] {
        [
            text("a path of 50,000 folders") { project(app: "CODE_SIGN_ENTITLEMENTS = \"\("x/".row(50_000))\";") },
            text("a path of 50,000 steps up") {
                project(app: "CODE_SIGN_ENTITLEMENTS = \"\("x/../".row(50_000))\";")
            },
            text("a root of 50,000 folders") {
                project(objects: "P = {isa = PBXProject; targets = (T); projectDirPath = \"\("x/".row(50_000))\";};")
            },
            text("5,000 times one target") { project(targets: "T,".row(5_000)) },
            text("a target of 30,000 configurations") { project(configurations: "C,".row(30_000)) },
            text("5,000 times a target of 5,000 configurations") {
                project(targets: "T,".row(5_000), configurations: "C,".row(5_000))
            },
            text("5,000 settings") { project(shared: rows(5_000) { "S\($0) = v;" }) },
            text("500 times a target of 5,000 settings") {
                project(shared: rows(5_000) { "S\($0) = v;" }, targets: "T,".row(500))
            },
            text("settings that name each other") {
                project(app: "A = \"$(B)\"; B = \"$(A)\"; PRODUCT_NAME = \"$(A)\";")
            },
            text("settings that double 40 times") {
                project(app: rows(40) { "A\($0) = \"$(A\($0 + 1))$(A\($0 + 1))\";" } + bundle("$(A0)"))
            },
            text("settings nested 10,000 deep") { project(app: bundle("$(A".row(10_000) + ")".row(10_000))) },
            text("20,000 references without a value") { project(app: bundle("$(A)".row(20_000))) },
            text("2,000 settings in a chain") {
                project(app: rows(2_000) { "A\($0) = \"$(A\($0 + 1))\";" } + bundle("$(A0)"))
            },
            text("20,000 conditions") {
                project(app: rows(40) { "\"A\($0)\("[sdk=*]".row(500))\" = b;" })
            },
            text("20,000 platforms") { project(app: "SUPPORTED_PLATFORMS = \"\("iphoneos a ".row(10_000))\";") },
            text("an identifier of 1 MiB") { project(app: bundle("a".row(1 << 20))) },
            text("a group in itself") {
                project(objects: "G = {isa = PBXGroup; children = (F, G); path = a; sourceTree = \"<group>\";};")
            },
            text("groups 5,000 deep") {
                project(
                    objects: "G = {isa = PBXGroup; children = (G0); sourceTree = \"<group>\";};"
                        + rows(5_000) {
                            "G\($0) = {isa = PBXGroup; children = (\($0 == 4_999 ? "F" : "G\($0 + 1)")); path = a;};"
                        })
            },
            text("100 targets, each in each") { everyInEvery(100) },
            text("10,000 files") {
                project(objects: rows(10_000) { "F\($0) = {isa = PBXFileReference; path = a\($0);};" })
            },
            text("a name that drives the terminal") {
                project(objects: "T = {isa = PBXNativeTarget; name = \"\\U001b[2J\\U202e\\U200b\"; productType = x;};")
            },
        ]
    }

    private static func bundle(_ text: String) -> String { "PRODUCT_BUNDLE_IDENTIFIER = \"\(text)\";" }

    private static func everyInEvery(_ count: Int) -> String {
        let objects = rows(count) {
            "T\($0) = {isa = PBXNativeTarget; name = T\($0); buildConfigurationList = L; buildPhases = (E); "
                + "productReference = R\($0); productType = \"com.apple.product-type.app-extension\";};"
                + "B\($0) = {isa = PBXBuildFile; fileRef = R\($0);};"
        }
        let phase = "E = {isa = PBXCopyFilesBuildPhase; files = (\(rows(count) { "B\($0)," }));};"
        return project(objects: objects + phase, targets: rows(count) { "T\($0)," })
    }

    // Both settings files have the same text.
    private static var settings: [Case] {
        [
            text("nothing") { "" }, text("rubbish") { "\u{0}\u{1}=\u{2}[" },
            text("no end of a condition") { "A[sdk=b = c" },
            text("20,000 times one setting with the one before") { "A = $(inherited)\n".row(20_000) },
            text("50,000 times one setting") { "A=1\n".row(50_000) },
            text("10,000 settings") { rows(10_000) { "SETTING_\($0) = value\n" } },
            text("500 times another file of 5,000 settings") {
                "#include \"Rest.xcconfig\"\n".row(499) + "A=\n".row(5_000)
            },
            text("files that include each other") { "#include \"Base.xcconfig\"\n#include \"Rest.xcconfig\"\n" },
            text("itself, 5,000 times") { "#include \"Base.xcconfig\"\n".row(5_000) },
            text("a path of 50,000 folders") { "#include \"\("x/".row(50_000))y.xcconfig\"\n" },
            text("5,000 files that are not there") { rows(5_000) { "#include? \"a\($0).xcconfig\"\n" } },
            text("a file of the system") { "#include \"/dev/zero\"\n#include \"/proc/self/mem\"\n" },
            text("500,000 empty lines") { "\n".row(500_000) },
            text("one line of 1 MiB") { "A = " + "b".row((1 << 20) - 10) },
            text("over 1 MiB") { "A=1\n".row(300_000) }, text("100,000 comments") { "//\n".row(100_000) },
            text("a key of 500,000 brackets") { "A" + "[".row(500_000) + " = b" },
            text("500,000 semicolons") { "A = b" + ";".row(500_000) },
        ]
    }

    private static var infos: [Case] {
        [
            text("nothing") { "" }, text("an array") { "<plist><array/></plist>" },
            text("an identifier that is a list") { info("<array/>") },
            text("an identifier of 1 MB") { info("<string>\("a".row(1_000_000))</string>") },
            text("an identifier of 100,000 references") { info("<string>\("$(A)".row(100_000))</string>") },
            text("an identifier that names itself") { info("<string>$(PRODUCT_BUNDLE_IDENTIFIER)$(A)</string>") },
            text("100,000 open arrays") { "<plist>" + "<array>".row(100_000) },
            text("over 1 MiB") { "<plist>" + " ".row(1 << 20) + "<dict/></plist>" },
            ("a cycle", { BinaryListFile([[0xD1, 1, 0], [0x51, 0x61]]).bytes }),
            ("a billion values", { BinaryListFile.doubling(30).bytes }),
        ]
    }

    private static func info(_ identifier: String) -> String {
        "<plist><dict><key>CFBundleIdentifier</key>\(identifier)</dict></plist>"
    }
}
