/** The limits of ended containers by the kubelet's flags, which upstream has deprecated. */
import { type ContainerPolicy, defaultContainerPolicy } from '../../kubelet/containers/collection/collection-plan.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { FlagValues } from './flags/index.ts'

/** Throws an ExplainedError with upstream's message for a negative age. */
export function containerPolicy(flags: FlagValues): ContainerPolicy {
  const { minAgeMs, maxPerContainer, maxContainers } = defaultContainerPolicy
  const age = flags.durationMs('minimum-container-ttl-duration') ?? minAgeMs
  if (age < 0)
    throw new ExplainedError(`invalid minimum garbage collection age: ${flags.text('minimum-container-ttl-duration')}`)
  return {
    minAgeMs: age,
    maxPerContainer: flags.int('maximum-dead-containers-per-container') ?? maxPerContainer,
    maxContainers: flags.int('maximum-dead-containers') ?? maxContainers,
  }
}
