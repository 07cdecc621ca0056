/** Faults of the feature gates of a configuration, in component-base's words. */
import { FeatureGates } from '../../api/features/feature-gates.ts'
import { knownGates } from '../../api/features/gates.ts'

/** The gates that have an effect in kubelets alone. */
export const kubeletGates: ReadonlySet<string> = new Set([
  'KubeletCrashLoopBackOffMax',
  'ReduceDefaultCrashLoopBackOffDecay',
])

export function gateFaults(settings: Readonly<Record<string, boolean>>): string[] {
  const faults = Object.entries(settings).flatMap(([name, isOn]) => {
    const gate = knownGates.get(name)
    if (!gate) return [`unrecognized feature gate: ${name}`]
    return gate.isLocked && gate.isOn !== isOn
      ? [`cannot set feature gate ${name} to ${isOn}, feature is locked to ${gate.isOn}`]
      : []
  })
  if (faults.length > 0) return faults
  return new FeatureGates(settings)
    .unmetDependencies()
    .map(([name, off]) => `${name} is enabled, but depends on features that are disabled: [${off.join(' ')}]`)
}
