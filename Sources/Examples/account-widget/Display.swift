internal import AccountShared
internal import FoundationEssentials
internal import SealedState

/// What the person sees: the face of the last update, and the time that is left of it.
actor Display {
    private var shown: Face?
    private var countdown: Task<Void, Never>?

    /// Shows what the record has come to.
    func show(_ update: RecordUpdate<WidgetAuthState>) {
        countdown?.cancel()
        countdown = Task { [weak self] in
            // The end itself is not counted down to: the store tells it.
            while !Task.isCancelled, let pause = await self?.draw(update) {
                try? await Task.sleep(for: .seconds(pause))
            }
        }
    }

    /// Draws what is to be seen now; in how many seconds that will be something else, if it will.
    private func draw(_ update: RecordUpdate<WidgetAuthState>) -> Double? {
        // A newer update may have come while this one was on its way here.
        if Task.isCancelled { return nil }
        let face = Face(update, at: Date())
        if face != shown {
            say("\(face)")
            shown = face
        }
        guard let expiry = update.value?.tokenExpiresAt, case .signedIn(_, let remaining) = face else { return nil }
        return remaining.pause(left: expiry.timeIntervalSince(Date()))
    }
}
