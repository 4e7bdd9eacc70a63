internal import Dispatch
internal import SharedFiles

extension SealedStore {
    /// Does work that only one program of the group may do at a time, such as refreshing a token.
    ///
    /// Of several callers one holds the lease and runs `body`; the others wait, and when it has finished they are told to
    /// reuse what it wrote. When it fails, dies, or its time runs out, one of them takes over. Whether the work is still
    /// needed is for `body` to look: a caller that comes when everybody has finished takes the lease anew.
    ///
    /// A holder that was stopped past its time does not know it. Hand `fence` to the writes that rely on the lease
    /// (`write(_:holding:)`): they are refused with `.leaseLost` once it has ended. Its number also grows with each holder,
    /// for other systems that can compare it.
    ///
    /// ```swift
    /// let outcome = try await store.withLease("refresh-token", for: .seconds(10)) { fence in
    ///     let token = try await server.refresh()
    ///     try await store.write(AuthState(token), holding: fence)
    /// }
    /// ```
    /// - Parameters:
    ///   - name: The lease's name, by the rules of record names.
    ///   - duration: How long the work may take; counted on a clock that nobody can set and that runs while the machine sleeps.
    ///   - limit: How long to wait for other holders.
    ///   - body: The work. It may renew the lease with `renewLease`.
    /// - Returns: Whether the work was done here or by another program.
    /// - Throws: `StoreError` `.leaseTimeout` when others held it for the whole limit, `.cancelled`, or what reading and
    ///   writing the lease's record throws; and whatever `body` throws.
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
            // What the work failed with says more than a lease that could not be given back and will end by itself.
            _ = try? await end(lease, completed: false)
            throw error
        }
        // The work is done, and its value must not be lost because that could not be noted: others may do it again.
        let isInTime = (try? await end(lease, completed: true)) ?? false
        return isInTime ? .performed(value) : .outlived(value)
    }

    /// Gives the lease of a running `withLease` so much time from now on.
    ///
    /// - Throws: `StoreError` `.leaseLost` when it has ended already.
    public func renewLease(_ fence: LeaseFence, for duration: Duration) async throws(StoreError) {
        try await Self.offload { (_) throws(StoreError) in
            try LeaseTable(writer: self.writer).renew(fence, for: duration)
        }
    }

    /// Cancellation does not keep a finished piece of work from being noted.
    private func end(_ lease: HeldLease, completed: Bool) async throws(StoreError) -> Bool {
        try await Self.offload { (_) throws(StoreError) in
            try LeaseTable(writer: self.writer).end(lease, completed: completed)
        }
    }
}

/// How a call that needed a lease ended.
public enum LeaseOutcome<Value: Sendable>: Sendable {
    /// This call held the lease and did the work.
    case performed(Value)
    /// Another program did the work while this call waited: read what it has written.
    case reused
    /// This call did the work, but its time was up before it ended, or its end could not be noted; another program may do
    /// it as well. Writes that named the fence after its time were refused.
    case outlived(Value)

    /// The value of work that this call did; nil where another program did it.
    public var value: Value? {
        switch self {
        case .performed(let value), .outlived(let value): value
        case .reused: nil
        }
    }
}

/// Proof of holding a lease, handed to writes: they are refused once somebody else holds it.
public struct LeaseFence: Sendable, Hashable {
    /// The lease's name.
    public let lease: String
    /// Which holder this is: +1 for each time that the lease was taken.
    public let number: UInt64

    package init(lease: String, number: UInt64) {
        self.lease = lease
        self.number = number
    }
}
