/**
 * Structural schemas (KEP-1178): what a CustomResourceDefinition says about its objects, and what follows from it for
 * each of them: which fields are pruned, which are filled in, what is refused, what apply merges.
 *
 * An object that comes in goes `prune` → `dropNulls` → `embeddedDecodeFault` (400) → `fillDefaults` → `schemaFaults`
 * (422).
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
