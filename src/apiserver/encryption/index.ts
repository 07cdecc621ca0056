/** Encryption at rest of the objects in the store. */
export { readEncryptionConfiguration } from './configuration.ts'
export { EncryptionAtRest, type EncryptionOptions } from './encryption-at-rest.ts'
export { encryptionMetrics } from './metrics.ts'
export { TransformedStore, type TransformerOf } from './transformed-store.ts'
