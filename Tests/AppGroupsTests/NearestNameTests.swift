import AppGroups
import Testing

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("", "abc", 3), ("abc", "abc", 0), ("abc", "abd", 1), ("abc", "acb", 1),
        ("abc", "ab", 1), ("abc", "xabc", 1), ("ca", "abc", 3), ("kitten", "sitting", 3), ("caf\u{E9}", "cafe", 2),
    ])
    func theDistanceIsTheNumberOfEdits(first: String, second: String, edits: Int) {
        #expect(NearestName.distance(first, second) == edits)
        #expect(NearestName.distance(second, first) == edits)
    }

    @Test(arguments: [
        ("group.com.example.appss", "group.com.example.apps"),
        ("group.com.example.ap", "group.com.example.app"),
        ("group.com.example.App", "group.com.example.app"),
        ("GROUP.COM.EXAMPLE.APPS", "group.com.example.apps"),
        ("group.com.exmaple.other", "group.com.example.other"),
    ])
    func theNearestNameIsFound(text: String, expected: String) {
        let names = ["group.com.example.apps", "group.com.example.app", "group.com.example.other", "ABCDE12345.x"]
        #expect(NearestName.nearest(to: text, among: names) == expected)
    }

    @Test func anotherCaseComesBeforeFewerEdits() {
        #expect(NearestName.nearest(to: "GROUP.ab", among: ["GROUP.ac", "group.AB"]) == "group.AB")
    }

    @Test func ofEquallyCloseNamesTheFirstIsFound() {
        #expect(NearestName.nearest(to: "group.a", among: ["group.b", "group.c"]) == "group.b")
    }

    @Test(arguments: ["org.other", "", "group"])
    func aDistantNameHasNoNearestName(text: String) {
        #expect(NearestName.nearest(to: text, among: ["group.com.example.app"]) == nil)
    }

    @Test func anEmptyListHasNoNearestName() {
        #expect(NearestName.nearest(to: "group.x", among: []) == nil)
    }

    /// Without a limit, the millions of steps would take minutes here.
    @Test func onlyTheBeginningOfLongTextsCounts() {
        let long = String(repeating: "a", count: 1_000_000)
        #expect(NearestName.distance(long, long + "b") == 0)
        #expect(NearestName.distance(long, String(repeating: "b", count: 1_000_000)) == 256)
        #expect(NearestName.nearest(to: long, among: [String](repeating: "\(long.dropLast())b", count: 20)) != nil)
    }
}
