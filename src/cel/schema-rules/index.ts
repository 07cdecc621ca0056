/** Validation rules of structural schemas (`x-kubernetes-validations`, KEP-2876): their validation and evaluation. */
export { definitionFaults, SharedRules } from './definition-faults.ts'
export { SchemaRules } from './value-faults.ts'
