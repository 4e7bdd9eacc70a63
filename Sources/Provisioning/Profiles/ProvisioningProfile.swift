/// Provisioning profiles.
