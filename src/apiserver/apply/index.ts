/** Field management: who owns which field (KEP-555), and server-side apply. */
export { type Applied, type Apply, applyPatch } from './apply-patch.ts'
export { fieldManagerErrors, managerName } from './field-manager.ts'
export type { OtherVersion } from './ownership.ts'
export { managedFieldsFromScale, type ReplicasPath, scaleManagedFields } from './scale.ts'
export { trackUpdate, type Update } from './track-update.ts'
export { keepTimesIfUnchanged, sameManagers } from './unchanged.ts'
