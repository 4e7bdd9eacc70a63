/// A vault that is being changed: what will be written if the change goes well.
struct VaultDraft {
    let vaultID: [UInt8]
    var slots: [KeySlot]
    var body: VaultBody
    let keys: ClassKeys
    let place: VaultPlace
    /// Milliseconds since 1970.
    let now: UInt64
    /// Whether everything is as it should be already: then nothing is written, and nothing logged.
    var isSettled = false

    init(_ contents: VaultContents, keys: ClassKeys, place: VaultPlace) {
        vaultID = contents.head.header.vaultID
        slots = contents.head.header.slots
        body = contents.body
        self.keys = keys
        self.place = place
        now = WallClock.milliseconds()
    }

    /// A number for a new slot; none is given twice in a vault's life.
    mutating func takeSlotID() -> UInt32 {
        defer { body.state.nextSlotID += 1 }
        return body.state.nextSlotID
    }
}
