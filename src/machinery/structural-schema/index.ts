/**
 * Structural schemas (KEP-1178) of a CustomResourceDefinition, and their use for its objects: pruning, defaults,
 * validation, and the granularity of apply.
 *
 * The steps for an object in a request are `prune` → `dropNulls` → `embeddedDecodeFault` (400) → `fillDefaults` →
 * `schemaFaults` (422).
 */

export { fillDefaults } from './defaults.ts'
export { embeddedDecodeFault } from './embedded/embedded-metadata.ts'
export { type SchemaChecks, structuralFaults } from './faults/index.ts'
export { nonStructuralFaults } from './faults/structure.ts'
export { fieldPathTarget } from './field-path.ts'
export { durationInWords } from './formats/duration.ts'
export { isChecked as isCheckedFormat } from './formats/index.ts'
export { dropNulls, prune } from './prune.ts'
export { type StructuralSchema, structuralSchema, structuralSchemas } from './schema.ts'
export { anySchema, itemsOf, othersOf, propertiesOf, type SchemaSource, type ValidationRule } from './source.ts'
export { structType } from './struct-type.ts'
export { correlatedItems, isUnchanged, none } from './values/correlation.ts'
export { schemaFaults, type ValueOptions } from './values/index.ts'
