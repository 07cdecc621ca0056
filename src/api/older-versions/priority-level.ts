/** PriorityLevelConfigurations of flowcontrol v1beta1 and v1beta2, where one field has another name. */
import type { OlderObject } from './index.ts'

/** Renames `assuredConcurrencyShares`, which protobuf never knew by name. */
export function currentPriorityLevel({ spec }: OlderObject): void {
  const { limited } = (spec ?? {}) as { readonly limited?: Record<string, unknown> }
  if (limited?.assuredConcurrencyShares === undefined) return
  limited.nominalConcurrencyShares = limited.assuredConcurrencyShares
  delete limited.assuredConcurrencyShares
}
