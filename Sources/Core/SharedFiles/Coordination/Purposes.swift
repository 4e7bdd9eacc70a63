internal import Synchronization

/// Which coordinators never wait for each other: those made with the same presenter, and each one with itself.
enum Purposes {
    private struct Key: Hashable {
        let presenter: ObjectIdentifier
        let domain: CoordinationDomain.Identity
    }

    private struct Entry {
        weak var claims: Claims?
    }

    private static let table = Mutex<[Key: Entry]>([:])

    /// The claims of a presenter's coordinators; fresh ones for a coordinator without a presenter.
    ///
    /// The caller keeps the presenter as long as the claims, so no other object can get its identity meanwhile.
    static func claims(of presenter: (any FilePresenter)?, in domain: CoordinationDomain) -> Claims {
        guard let presenter else { return Claims(domain: domain) }
        let key = Key(presenter: ObjectIdentifier(presenter), domain: domain.identity)
        return table.withLock { table in
            if let claims = table[key]?.claims { return claims }
            if table.count > 64 { table = table.filter { $0.value.claims != nil } }
            let claims = Claims(domain: domain)
            table[key] = Entry(claims: claims)
            return claims
        }
    }

    /// The claims of a presenter's coordinators, if it has any.
    static func existing(of presenter: any FilePresenter, in domain: CoordinationDomain) -> Claims? {
        let key = Key(presenter: ObjectIdentifier(presenter), domain: domain.identity)
        return table.withLock { $0[key]?.claims }
    }
}
