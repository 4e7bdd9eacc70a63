internal import AppGroups

extension StoreError {
    /// What a failure of shared memory means for a store.
    init(sharing error: AppGroupError, _ operation: String, _ subject: String) {
        let code: Code =
            switch error.code {
            case .invalidIPCName: .invalidName
            case .ipcMissing: .absent
            case .messageTooLarge: .tooLarge
            case .ipcLimit: .noSpace
            case .ipcDamaged: .malformed
            case .timeout: .lockTimeout
            case .cancelled: .cancelled
            case .containerMissing, .containerAway: .containerMissing
            default: .container
            }
        self.init(code, operation, subject, error.reason, advice: error.advice, errno: error.errno, cause: error)
    }
}
