internal import AuditReports
internal import CryptoPrimitives
internal import FoundationEssentials
internal import SealedState
internal import SystemPackage

/// The text of a configuration file: one JSON object whose keys are settings.
struct ConfigurationText {
    private let bytes: [UInt8]
    private let path: FilePath

    init(_ bytes: [UInt8], of path: FilePath) {
        self.bytes = bytes
        self.path = path
    }

    /// - Throws: `Failure` `badConfiguration` that names the file, and the key or the place in it.
    func layer() throws(Failure) -> SettingLayer {
        do throws(JSONFault) {
            try bytes.withRawBytes { bytes throws(JSONFault) in try JSONChecker.check(bytes, maximumDepth: 8) }
        } catch {
            throw bad("is not JSON: byte \(error.offset): \(error.reason)")
        }
        guard let object = try? JSONDecoder().decode([String: ConfigurationValue].self, from: Data(bytes)) else {
            throw bad("is not one object of names and values")
        }
        var layer = SettingLayer(name: path.string)
        for (key, value) in object.sorted(by: { $0.key < $1.key }) {
            guard let name = SettingName(rawValue: key) else { throw bad("has the unknown key \"\(key)\"") }
            layer.values[name] = try text(of: value, name)
        }
        try requireOneCredential(layer)
        return layer
    }

    private func text(of value: ConfigurationValue, _ name: SettingName) throws(Failure) -> String {
        switch value {
        case .isOn(let isOn) where name.isSwitch: return isOn ? "true" : "false"
        case .text(let text) where !name.isSwitch && !text.isEmpty && !text.utf8.contains(0):
            if let words = name.words, !words.contains(text) {
                throw bad("has a value of \"\(name.rawValue)\" that is not one of \(words.joined(separator: ", "))")
            }
            return name.isPath ? place(text) : text
        default: throw bad("needs \(name.isSwitch ? "true or false" : "a text") for \"\(name.rawValue)\"")
        }
    }

    /// Returns an absolute path. `~/` is the home directory, and relative paths begin at the file's directory.
    private func place(_ text: String) -> String {
        if text.hasPrefix("~/"), let home = ConfigurationFile.absolute("HOME") {
            return home.appending(String(text.dropFirst(2))).string
        }
        return WorkingDirectory.absolute(path.removingLastComponent().pushing(FilePath(text)).string)
    }

    private func requireOneCredential(_ layer: SettingLayer) throws(Failure) {
        let stated = SettingName.credentials.filter { layer.values[$0] != nil }.map { "\"\($0.rawValue)\"" }
        if stated.count > 1 {
            throw bad("has \(stated.joined(separator: " and ")), but only one credential can be set")
        }
    }

    private func bad(_ what: String) -> Failure {
        Failure(
            .configuration, "badConfiguration", "the configuration \(path) \(what)",
            hint: "See sealctl help configuration.")
    }
}

/// A value of a key in the file.
private enum ConfigurationValue: Decodable {
    case text(String)
    case isOn(Bool)
    case other

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let isOn = try? value.decode(Bool.self) {
            self = .isOn(isOn)
        } else {
            self = .other
        }
    }
}
