/** The requirements of a label selector. */

export type Operator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<'

/** One requirement of a selector, all of which have to match. */
export interface Requirement {
  readonly key: string
  readonly operator: Operator
  /** Sorted, without duplicates. */
  readonly values: readonly string[]
}
