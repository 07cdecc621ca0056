/** Encryption at rest: what the store holds of objects, where somebody wants that it cannot be read there. */
export { readEncryptionConfiguration } from './configuration.ts'
export { EncryptedStore } from './encrypted-store.ts'
export { EncryptionAtRest, type EncryptionOptions } from './encryption-at-rest.ts'
export { encryptionMetrics } from './metrics.ts'
