internal import ArgumentParser
internal import Glibc

/// A setting's value and its origin.
struct SettingValue: Sendable, Equatable {
    /// The text of the value; `true` or `false` for a switch.
    let text: String
    /// The origin for people: a flag, a variable or a file.
    let origin: String
}

/// All settings of one source.
struct SettingLayer: Sendable {
    /// The name in messages.
    let name: String
    var values: [SettingName: String] = [:]
    /// The origins that differ from the layer's name.
    var origins: [SettingName: String] = [:]

    /// Returns the origin of a value of this layer: the flag, the variable or the file.
    func origin(of setting: SettingName) -> String {
        if let stated = origins[setting] { return stated }
        return switch self.name {
        case Self.flags: setting.flag
        case Self.environment: "$\(setting.variable)"
        default: name
        }
    }

    static let flags = "flags"
    static let environment = "environment"

    /// Reads the variables. An empty variable counts as unset, except the root.
    ///
    /// - Throws: `Failure` `badSetting` for an invalid word.
    static func fromEnvironment() throws(Failure) -> SettingLayer {
        var layer = SettingLayer(name: environment)
        for setting in SettingName.allCases {
            // The library refuses an empty root. A default would store state in an unexpected place.
            guard let value = getenv(setting.variable), value.pointee != 0 || setting == .root else { continue }
            layer.values[setting] = try checked(String(cString: value), setting)
        }
        if layer.values[.color] == nil, forbidsColor { layer.values[.color] = "never" }
        return layer
    }

    /// True if colours are forbidden: by any text in `NO_COLOR`, as no-color.org defines it, or by a terminal
    /// without colours.
    private static var forbidsColor: Bool {
        if let value = getenv("NO_COLOR"), value.pointee != 0 { return true }
        return getenv("TERM").map { String(cString: $0) == "dumb" } ?? false
    }

    private static func checked(_ text: String, _ setting: SettingName) throws(Failure) -> String {
        if setting.isSwitch {
            switch text.lowercased() {
            case "1", "true", "yes", "on": return "true"
            case "0", "false", "no", "off": return "false"
            default: throw bad(setting, ["1", "0"])
            }
        }
        if let words = setting.words, !words.contains(text) { throw bad(setting, words) }
        return text
    }

    private static func bad(_ setting: SettingName, _ words: [String]) -> Failure {
        Failure(
            .configuration, "badSetting", "$\(setting.variable) has an unknown value",
            hint: "Set it to one of these: \(words.joined(separator: ", ")).")
    }
}

/// Options that correspond to settings and take precedence over them.
protocol StatesSettings {
    /// Adds the values that were stated on the command line.
    func state(in layer: inout SettingLayer)
}

extension OptionGroup: StatesSettings where Value: StatesSettings {
    func state(in layer: inout SettingLayer) { wrappedValue.state(in: &layer) }
}

extension OutputOptions: StatesSettings {
    func state(in layer: inout SettingLayer) { layer.values.merge(settings.values) { $1 } }
}

extension GroupOptions: StatesSettings {
    func state(in layer: inout SettingLayer) { layer.values[.group] = group }
}

extension VaultTarget: StatesSettings {
    func state(in layer: inout SettingLayer) {
        layer.values[.group] = group ?? accessGroup
        if accessGroup != nil { layer.origins[.group] = "--access-group" }
    }
}

extension KeyOptions: StatesSettings {
    func state(in layer: inout SettingLayer) {
        layer.values[.keyFile] = keyFile
        layer.values[.identity] = identity
        layer.values[.passphraseFile] = passphraseFile
        layer.values[.credential] = credential?.name
    }
}

extension SealctlCommand {
    /// All settings from the command line: the source with the highest precedence.
    var statedSettings: SettingLayer {
        var layer = SettingLayer(name: SettingLayer.flags)
        // The groups of options are stored properties of the command, under any name.
        for child in Mirror(reflecting: self).children { (child.value as? any StatesSettings)?.state(in: &layer) }
        return layer
    }
}
