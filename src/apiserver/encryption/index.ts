/** Encryption at rest of the objects in the store. */
export { readEncryptionConfiguration } from './configuration.ts'
export { EncryptedStore } from './encrypted-store.ts'
export { EncryptionAtRest, type EncryptionOptions } from './encryption-at-rest.ts'
export { encryptionMetrics } from './metrics.ts'
