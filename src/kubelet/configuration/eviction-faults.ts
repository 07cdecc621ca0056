/** Faults in the thresholds of evictions, in upstream's words. */
import { messageOf } from '../../lib/message-of.ts'
import { parseThresholds } from '../eviction/thresholds.ts'
import type { KubeletConfiguration } from './defaults.ts'

export function evictionFaults(configuration: KubeletConfiguration): string[] {
  const { evictionHard, evictionSoft = {}, evictionSoftGracePeriod = {}, evictionMinimumReclaim = {} } = configuration
  try {
    parseThresholds({ evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim })
    return []
  } catch (error) {
    return [messageOf(error)]
  }
}
