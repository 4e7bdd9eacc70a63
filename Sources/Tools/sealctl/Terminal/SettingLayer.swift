internal import ArgumentParser
internal import Glibc

/// A setting's value and where it came from.
struct SettingValue: Sendable, Equatable {
    /// A switch is `true` or `false`.
    let text: String
    /// For people: a flag, a variable or a file.
    let origin: String
}

/// All settings of one source.
struct SettingLayer: Sendable {
    /// What messages call it.
    let name: String
    var values: [SettingName: String] = [:]
    /// Where those came from that the layer's name does not tell.
    var origins: [SettingName: String] = [:]

    /// Where a value of this layer came from: the flag or variable itself, or the file.
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

    /// What variables say; an empty one counts as unset, except the root.
    ///
    /// - Throws: `Failure` `badSetting` for a word that a setting does not have.
    static func fromEnvironment() throws(Failure) -> SettingLayer {
        var layer = SettingLayer(name: environment)
        for setting in SettingName.allCases {
            // An empty root is for the library to refuse: falling back would put state where nobody looks for it.
            guard let value = getenv(setting.variable), value.pointee != 0 || setting == .root else { continue }
            layer.values[setting] = try checked(String(cString: value), setting)
        }
        if layer.values[.color] == nil, forbidsColor { layer.values[.color] = "never" }
        return layer
    }

    /// As no-color.org has it, any text in `NO_COLOR`; and a terminal that knows no colours.
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
            .configuration, "badSetting", "$\(setting.variable) has none of its values",
            hint: "Set it to one of these: \(words.joined(separator: ", ")).")
    }
}

/// Options that say the same as a setting, and go before it.
protocol StatesSettings {
    /// Adds what was stated on the command line.
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
    /// All that the command line says of settings: the source that goes before all others.
    var statedSettings: SettingLayer {
        var layer = SettingLayer(name: SettingLayer.flags)
        // The groups of options are the command's stored properties, whatever it calls them.
        for child in Mirror(reflecting: self).children { (child.value as? any StatesSettings)?.state(in: &layer) }
        return layer
    }
}
