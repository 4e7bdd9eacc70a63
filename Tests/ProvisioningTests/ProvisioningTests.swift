import Testing

@testable import Provisioning
