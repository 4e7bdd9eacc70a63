#if CommandLineConfiguration
internal import Configuration
#endif

/// The resolution of settings: the first source that has a setting decides.
struct SettingResolver {
    private let layers: [SettingLayer]

    /// - Parameter layers: The layers in the order of precedence.
    init(_ layers: [SettingLayer]) { self.layers = layers }

    func values() -> [SettingName: SettingValue] {
        var found = deciding()
        // The ways to open a vault exclude each other: those of one source hide those of every later source.
        let nearest = SettingName.credentials.compactMap { found[$0]?.layer }.min()
        for name in SettingName.credentials where found[name]?.layer != nearest { found[name] = nil }
        return Dictionary(
            uniqueKeysWithValues: found.map { name, entry in
                (name, SettingValue(text: entry.text, origin: layers[entry.layer].origin(of: name)))
            })
    }

    private typealias Found = [SettingName: (text: String, layer: Int)]

    #if CommandLineConfiguration
    /// Returns the deciding layers. Without a file there are two short tables, which require no reader.
    private func deciding() -> Found { layers.count > 2 ? deciding(by: reader) : decidingHere() }

    private var reader: (ConfigReader, DecidingProvider) {
        let providers = layers.map { layer in
            InMemoryProvider(
                name: layer.name,
                values: Dictionary(
                    uniqueKeysWithValues: layer.values.map { name, text in
                        (AbsoluteConfigKey([name.rawValue]), ConfigValue(.string(text), isSecret: false))
                    }))
        }
        let deciding = DecidingProvider()
        return (ConfigReader(providers: providers, accessReporter: deciding), deciding)
    }

    private func deciding(by reader: (values: ConfigReader, deciding: DecidingProvider)) -> Found {
        var found: Found = [:]
        for name in SettingName.allCases {
            guard let text = reader.values.string(forKey: ConfigKey([name.rawValue])) else { continue }
            found[name] = (text, reader.deciding.index)
        }
        return found
    }
    #else
    private func deciding() -> Found { decidingHere() }
    #endif

    private func decidingHere() -> Found {
        var found: Found = [:]
        for (index, layer) in layers.enumerated() {
            for (name, text) in layer.values where found[name] == nil { found[name] = (text, index) }
        }
        return found
    }
}
