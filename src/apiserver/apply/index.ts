/** Field management (ownership of fields, KEP-555) and server-side apply. */
export { applyPatch, applySteps } from './apply-patch.ts'
export { fieldManagerErrors, managerName } from './managed-fields/field-manager.ts'
export { managedFieldsFault } from './managed-fields/managed.ts'
export type { OtherVersion } from './managed-fields/ownership.ts'
export { managedFieldsFromScale, scaleManagedFields } from './managed-fields/scale.ts'
export { trackSteps, trackUpdate } from './managed-fields/track-update.ts'
export { isUnchanged } from './managed-fields/unchanged.ts'
