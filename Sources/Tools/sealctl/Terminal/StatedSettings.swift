internal import ArgumentParser

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
