/**
 * The features that rules and defaults of kinds ask about. Kinds are data that all servers of a process share, and
 * their functions are synchronous: a server whose features are not the default ones makes them current while it calls
 * such a function.
 */
import { defaultFeatures, type FeatureGates } from './feature-gates.ts'

let current: FeatureGates = defaultFeatures

/** True if the feature is on in the server that calls. */
export const isFeatureOn = (gate: string): boolean => current.isOn(gate)

/** Calls a synchronous function with these features as the current ones. */
export function withFeatures<T>(features: FeatureGates, call: () => T): T {
  const before = current
  current = features
  try {
    return call()
  } finally {
    current = before
  }
}
