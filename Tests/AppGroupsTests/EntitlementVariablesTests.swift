import AppGroups
import Testing

@Suite struct EntitlementVariablesTests {
    private static let variables = EntitlementVariables([
        "A": "one", "B": "A", "EMPTY": "", "NAME_one": "found", "PRODUCT_NAME": "My App 2", "NESTED": "<$(A)>",
        "DEEP": "$(NESTED)$(NESTED)", "DIGITS": "7up.x_y",
    ])

    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("$(A)", "one"), ("${A}", "one"), ("$[A]", "one"), ("$A", "one"),
        ("$A.x", "one.x"),
        ("x$(A)y${A}z", "xoneyonez"), ("$($(B))", "one"), ("$(NAME_$(A))", "found"), ("${NAME_$(A)}", "found"),
        ("$(DEEP)", "<one><one>"), ("$$", "$"), ("$$(A)", "$(A)"), ("5$", "5$"), ("$ 5", "$ 5"), ("$1", "$1"),
        ("$(EMPTY)", ""), ("caf\u{E9}$(A)\u{1F510}", "caf\u{E9}one\u{1F510}"),
    ])
    func referencesAreExpanded(text: String, expected: String) {
        #expect(Self.variables.expand(text) == ExpandedText(text: expected, unresolved: []))
    }

    @Test(arguments: [
        ("$(PRODUCT_NAME:rfc1034identifier)", "My-App-2"), ("$(PRODUCT_NAME:identifier)", "My_App_2"),
        ("$(PRODUCT_NAME:c99extidentifier)", "My_App_2"), ("$(PRODUCT_NAME:lower)", "my app 2"),
        ("$(PRODUCT_NAME:upper)", "MY APP 2"), ("$(PRODUCT_NAME:lower:rfc1034identifier)", "my-app-2"),
        ("$(DIGITS:rfc1034identifier)", "-up-x-y"), ("$(DIGITS:identifier)", "_up_x_y"),
        ("$(NONE:default=x)", "x"), ("$(EMPTY:default=x)", "x"), ("$(A:default=x)", "one"),
        ("$(NONE:default=$(A))", "one"), ("$(NONE:default=$(B):upper)", "A"), ("$(NONE:default=)", ""),
        ("$(A:default=$(NONE))", "one"),
    ])
    func operatorsChangeAValue(text: String, expected: String) {
        #expect(Self.variables.expand(text) == ExpandedText(text: expected, unresolved: []))
    }

    @Test(arguments: [
        ("$(NONE)", ["NONE"]), ("x$(NONE)$(A)$(OTHER)$(NONE)", ["NONE", "OTHER"]), ("$(A:unheardof)", ["A:unheardof"]),
        ("$(NONE:lower)", ["NONE"]), ("$(NONE:default=$(OTHER))", ["OTHER"]), ("$($(NONE))", ["NONE"]),
        ("$()", [""]), ("$(a)", ["a"]), ("$(inherited)", ["inherited"]), ("$(A", ["$(A"]), ("$(A}", ["$(A}"]),
        ("$(NAME_$(A)", ["$(NAME_$(A)"]),
    ])
    func whatHasNoValueIsNamedAndStays(text: String, names: [String]) {
        let expanded = Self.variables.expand(text)
        #expect(expanded.unresolved == names)
        #expect(!expanded.isResolved)
        #expect(expanded.text.contains("$"))
    }

    @Test func theTeamGivesThePrefixesWithTheirDot() throws {
        let variables = EntitlementVariables(
            teamIdentifier: try TeamIdentifier("ABCDE12345"), bundleIdentifier: "com.example.app")
        #expect(
            variables.expand("$(AppIdentifierPrefix)x $(TeamIdentifierPrefix)y $(DEVELOPMENT_TEAM)").text
                == "ABCDE12345.x ABCDE12345.y ABCDE12345")
        #expect(
            variables.expand("$(CFBundleIdentifier) $(PRODUCT_BUNDLE_IDENTIFIER)").text
                == "com.example.app com.example.app")
    }

    @Test func aGivenValueWinsOverWhatFollowsFromTheTeam() throws {
        let variables = EntitlementVariables(
            teamIdentifier: try TeamIdentifier("ABCDE12345"), bundleIdentifier: nil,
            ["AppIdentifierPrefix": "ZYXWV98765."])
        #expect(variables.expand("$(AppIdentifierPrefix)").text == "ZYXWV98765.")
        #expect(variables.expand("$(TeamIdentifierPrefix)").text == "ABCDE12345.")
        #expect(!variables.expand("$(CFBundleIdentifier)").isResolved)
    }

    @Test(arguments: [
        ("$(ID)", "base.target"), ("$(SELF)", "low+high"), ("$(LOW)", "high"), ("$(ONLY_HIGH)", "[]"),
    ])
    func aLevelInheritsFromTheOneBelow(text: String, expected: String) {
        let project = EntitlementVariables(["ID": "base", "SELF": "low", "LOW": "$(HIGH)"])
        let target = EntitlementVariables([
            "ID": "$(inherited).target", "SELF": "$(SELF)+high", "HIGH": "high", "ONLY_HIGH": "[$(inherited)]",
        ])
        #expect(target.over(project).expand(text) == ExpandedText(text: expected, unresolved: []))
    }

    @Test func aSettingIsSetAtTheHighestLevel() {
        var variables = EntitlementVariables(["A": "1"]).over(EntitlementVariables(["A": "0", "B": "$(A)"]))
        #expect(variables["A"] == "1" && variables["B"] == "$(A)" && variables["C"] == nil)
        variables["A"] = nil
        #expect(variables["A"] == "0" && variables.expand("$(B)").text == "0")
    }

    @Test(arguments: [
        ["X": "$(X)"], ["X": "$(Y)", "Y": "$(X)"], ["X": "$(Y)$(Y)", "Y": "$(Z)$(Z)", "Z": "$(X)$(X)"],
        ["X": "${X:default=$(X)}"], ["X": "$($(X))"],
    ])
    func aCircleHasNoValue(values: [String: String]) {
        #expect(!EntitlementVariables(values).expand("$(X)").isResolved)
    }

    @Test(arguments: ["a", ""])
    func settingsThatDoubleAreGivenUp(seed: String) {
        var values = ["X0": seed]
        for level in 1...60 { values["X\(level)"] = "$(X\(level - 1))$(X\(level - 1))" }
        let expanded = EntitlementVariables(values).expand("$(X60)")
        #expect(!expanded.isResolved)
        #expect(expanded.text.utf8.count < 1 << 22)
    }

    @Test(arguments: [(32, true), (33, false)])
    func tooManyOperatorsAreRefused(count: Int, isResolved: Bool) {
        let text = "$(A" + String(repeating: ":upper", count: count) + ")"
        #expect(Self.variables.expand(text).isResolved == isResolved)
    }

    @Test func theWorkOfOperatorsCounts() {
        let variables = EntitlementVariables(["X": String(repeating: "x", count: 1 << 18)])
        #expect(variables.expand("$(X:upper)").isResolved)
        #expect(!variables.expand("$(X:upper:lower:upper:lower)").isResolved)
    }

    @Test func aValueThatIsTooLongIsGivenUp() {
        let variables = EntitlementVariables(["X": String(repeating: "x", count: 1 << 20), "Y": "$(X)$(X)"])
        #expect(!variables.expand("$(Y)").isResolved)
    }

    @Test(arguments: [
        (String(repeating: "$(", count: 200_000), false),
        (String(repeating: "$(", count: 200_000) + String(repeating: ")", count: 200_000), false),
        (String(repeating: "$(A", count: 100_000), false), (String(repeating: "$", count: 500_001), true),
        (String(repeating: "$(A)", count: 100_000), false),
        ("$(" + String(repeating: ":", count: 300_000) + ")", false),
        ("$(A" + String(repeating: ":lower", count: 100_000) + ")", false),
    ])
    func hostileTextIsGivenUp(text: String, isResolved: Bool) {
        let expanded = Self.variables.expand(text)
        #expect(expanded.isResolved == isResolved)
        #expect(expanded.text.utf8.count <= text.utf8.count)
    }
}
