/** Field management: who owns which field (KEP-555), and server-side apply. */
export { applyPatch, applySteps } from './apply-patch.ts'
export { fieldManagerErrors, managerName } from './field-manager.ts'
export { managedFieldsFault } from './managed.ts'
export type { OtherVersion } from './ownership.ts'
export { managedFieldsFromScale, scaleManagedFields } from './scale.ts'
export { trackSteps, trackUpdate } from './track-update.ts'
export { isUnchanged } from './unchanged.ts'
