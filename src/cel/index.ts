/**
 * Kubernetes' CEL: compiles, checks and evaluates expressions, and estimates and limits their cost.
 *
 *     const rules = environment({ variables: { self: listType(intType) } })
 *     const compiled = rules.compile('self.all(x, x > 0)')
 *     if ('program' in compiled) compiled.program.evaluate({ self: adapt([1, 2], listType(intType)) })
 */
export { adapt } from './adapt.ts'
export { type Compiled, type Environment, environment } from './environment.ts'
export { type Bindings, callCostLimit, type Program } from './program.ts'
export { escapeFieldName } from './syntax/escape.ts'
