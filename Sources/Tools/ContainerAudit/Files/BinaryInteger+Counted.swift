extension BinaryInteger {
    /// The number with what it counts: `1 byte`, `2 bytes`, `1 entry`, `2 entries`.
    ///
    /// - Parameter plural: The singular with an `s` unless stated.
    func counted(_ singular: String, _ plural: String? = nil) -> String {
        "\(self) \(self == 1 ? singular : plural ?? singular + "s")"
    }
}
