import CryptoPrimitives
import Glibc
import KeyVault

/// The operations of the item tests on a vault. Only tests may hold a value in an array.
extension Vault {
    func add(
        _ service: String, _ account: String, label: String = "", _ accessibility: Accessibility = .afterFirstUnlock,
        _ value: [UInt8] = [1, 2, 3], limits: ItemLimits = .standard
    ) throws(VaultError) {
        try value.withRawBytes { value throws(VaultError) in
            let item = NewItem(
                service: service, account: account, label: label, accessibility: accessibility, value: value)
            try addItems([item], limits: limits)
        }
    }

    func add(
        _ service: String, _ account: String, label: String = "", _ value: [UInt8], limits: ItemLimits = .standard
    ) throws(VaultError) {
        try add(service, account, label: label, .afterFirstUnlock, value, limits: limits)
    }

    func update(
        _ service: String, _ account: String, label: String? = nil, _ accessibility: Accessibility? = nil,
        value: [UInt8], limits: ItemLimits = .standard
    ) throws(VaultError) {
        try value.withRawBytes { value throws(VaultError) in
            try updateItem(
                service: service, account: account, label: label, accessibility: accessibility, value: value,
                limits: limits)
        }
    }

    func value(_ service: String, _ account: String) throws(VaultError) -> [UInt8] {
        try withValue(service: service, account: account) { Array($0) }
    }
}

/// Waits until the clock that dates items has advanced.
func waitForTheNextMillisecond() { usleep(2000) }

/// Texts that are not valid as service or account.
enum RefusedText: CaseIterable {
    case empty, tooManyLetters, tooManyBytes, withNUL

    var text: String {
        switch self {
        case .empty: ""
        case .tooManyLetters: String(repeating: "x", count: 1025)
        case .tooManyBytes: String(repeating: "é", count: 513)
        case .withNUL: "a\0b"
        }
    }
}
