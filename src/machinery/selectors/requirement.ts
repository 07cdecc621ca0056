/** The parts that a label selector is made of. */

export type Operator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<'

/** One part of a selector; all of them have to hold. */
export interface Requirement {
  readonly key: string
  readonly operator: Operator
  /** Sorted, none twice. */
  readonly values: readonly string[]
}
