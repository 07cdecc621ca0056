/**
 * The feature gates that validation and defaults read. All servers of a process share the resource definitions, whose
 * functions are synchronous: a server with non-default features makes them current while it calls such a function.
 */
import { defaultFeatures, type FeatureGates } from './feature-gates.ts'

let current: FeatureGates = defaultFeatures

/** Returns true if the feature is enabled in the calling server. */
export const isFeatureOn = (gate: string): boolean => current.isEnabled(gate)

/** Calls a synchronous function with the given features as the current ones. */
export function withFeatures<T>(features: FeatureGates, call: () => T): T {
  const before = current
  current = features
  try {
    return call()
  } finally {
    current = before
  }
}
