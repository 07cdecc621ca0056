/**
 * Validation rules of structural schemas (`x-kubernetes-validations`, KEP-2876): what is wrong with them when a schema
 * is defined, and what they say of values.
 */
export { definitionFaults, SharedRules } from './definition-faults.ts'
export { SchemaRules } from './value-faults.ts'
