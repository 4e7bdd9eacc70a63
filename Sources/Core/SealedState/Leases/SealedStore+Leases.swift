internal import Dispatch
internal import SharedFiles

extension SealedStore {
    /// Runs work that only one program of the group may run at a time, such as refreshing a token.
    ///
    /// One of several callers holds the lease and runs `body`; the others wait, and when it has finished they get
    /// `.reused` and use its result. If it fails, dies, or its time runs out, one of them takes over. `body` checks
    /// whether the work is still needed: a caller that arrives after all have finished takes a new lease.
    ///
    /// A holder that was stopped past its time does not know it. Pass `fence` to the writes that rely on the lease
    /// (`write(_:holding:)`): they are refused with `.leaseLost` once it has ended. Its number also increases with each
    /// holder, for other systems that can compare it.
    ///
    /// ```swift
    /// let outcome = try await store.withLease("refresh-token", for: .seconds(10)) { fence in
    ///     let token = try await server.refresh()
    ///     try await store.write(AuthState(token), holding: fence)
    /// }
    /// ```
    /// - Parameters:
    ///   - name: The lease's name, by the rules of record names.
    ///   - duration: The time limit for the work, on a clock that cannot be set and that runs while the machine sleeps.
    ///   - limit: The time limit for other holders.
    ///   - isolation: The actor on which `body` runs, by default the caller's.
    ///   - body: The work. It may renew the lease with `renewLease`.
    /// - Returns: The work's value, or `.reused` if another program did the work.
    /// - Throws: `StoreError` `.leaseTimeout` if other programs held it for the whole limit, `.cancelled`, or the
    ///   errors of reading and writing the lease's record; and the errors of `body`.
    public func withLease<Value: Sendable>(
        _ name: String, for duration: Duration, waitingUpTo limit: Duration = .seconds(30),
        isolation: isolated (any Actor)? = #isolation, _ body: (LeaseFence) async throws -> Value
    ) async throws -> LeaseOutcome<Value> {
        guard let lease = try await LeaseWait(store: self, name: name, duration: duration, limit: limit).take() else {
            return .reused
        }
        let fence = lease.fence
        let value: Value
        do { value = try await body(fence) } catch {
            // The work's error is more useful than that of a lease that could not be returned and will end by itself.
            _ = try? await end(lease, completed: false)
            throw error
        }
        // The work is done, and its value must not be lost if noting that fails: other programs may do the work again.
        let isInTime = (try? await end(lease, completed: true)) ?? false
        return isInTime ? .performed(value) : .outlived(value)
    }

    /// Extends the lease of a running `withLease` to that duration from now on.
    ///
    /// - Throws: `StoreError` `.leaseLost` when it has ended already.
    public func renewLease(_ fence: LeaseFence, for duration: Duration) async throws(StoreError) {
        try await Self.offload { (_) throws(StoreError) in
            try LeaseTable(writer: self.writer).renew(fence, for: duration)
        }
    }

    /// Ends the lease. Cancellation does not prevent finished work from being noted.
    private func end(_ lease: HeldLease, completed: Bool) async throws(StoreError) -> Bool {
        try await Self.offload { (_) throws(StoreError) in
            try LeaseTable(writer: self.writer).end(lease, completed: completed)
        }
    }
}

/// The outcome of a call that needed a lease.
public enum LeaseOutcome<Value: Sendable>: Sendable {
    /// This call held the lease and did the work.
    case performed(Value)
    /// Another program did the work while this call waited: read its result.
    case reused
    /// This call did the work, but its time was up before it ended, or its end could not be noted; another program may
    /// do it as well. Writes that named the fence after its time were refused.
    case outlived(Value)

    /// The value of work that this call did; nil if another program did it.
    public var value: Value? {
        switch self {
        case .performed(let value), .outlived(let value): value
        case .reused: nil
        }
    }
}

/// Proof of holding a lease, passed to writes: they are refused once another program holds it.
public struct LeaseFence: Sendable, Hashable {
    /// The lease's name.
    public let lease: String
    /// The number of the holder: +1 each time the lease is taken.
    public let number: UInt64

    package init(lease: String, number: UInt64) {
        self.lease = lease
        self.number = number
    }
}
