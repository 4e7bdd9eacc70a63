/// Leaves that may be carriers themselves: visited, and then looked into.
extension LeafWalk {
    /// Visits a text.
    ///
    /// - Parameter isVerbatim: Whether the bytes lie in the source as they are, so that what is nested in them has places there.
    func text(
        _ bytes: UnsafeRawBufferPointer, name: UnsafeRawBufferPointer?, range: Range<Int64>?, form: CarrierForm,
        isVerbatim: Bool = true, presence: Leaf.Presence = .live
    ) throws(CarrierFault) {
        try visit(name: name, .text(bytes), range: range, form: form, presence: presence)
        guard bytes.count >= NestedValue.shortest else { return }
        try Carriers.readValue(
            bytes, isText: true, name: name, at: isVerbatim ? range?.lowerBound : nil, presence: presence, self)
    }

    /// Visits data, or the text that it is in UTF-16.
    func data(
        _ bytes: UnsafeRawBufferPointer, name: UnsafeRawBufferPointer?, range: Range<Int64>?, form: CarrierForm,
        isVerbatim: Bool = true, presence: Leaf.Presence = .live
    ) throws(CarrierFault) {
        if !WideValue.isText(bytes) {
            try visit(name: name, .data(bytes), range: range, form: form, presence: presence)
        }
        guard bytes.count >= NestedValue.shortest else { return }
        try Carriers.readValue(
            bytes, isText: false, name: name, at: isVerbatim ? range?.lowerBound : nil, presence: presence, self)
    }
}
