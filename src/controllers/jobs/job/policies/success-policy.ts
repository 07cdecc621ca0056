/** Applies an Indexed Job's success policy (KEP-3998). */
import type { Job } from '../../../../client/kinds.ts'
import { countInBoth, countOf, type Indexes, parseIndexes } from '../indexes.ts'

/** Returns the condition's message if a rule is met; else undefined. */
export function metSuccessRule({ spec }: Job, succeeded: Indexes): string | undefined {
  if (succeeded.length === 0) return undefined
  const rules = spec?.successPolicy?.rules ?? []
  const met = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && countOf(succeeded) >= succeededCount
    const needed = parseIndexes(succeededIndexes, spec?.completions ?? 0)
    const reached = countInBoth(needed, succeeded)
    return (
      needed.length > 0 && (reached === countOf(needed) || (succeededCount !== undefined && reached >= succeededCount))
    )
  })
  return met < 0 ? undefined : `Matched rules at index ${met}`
}
