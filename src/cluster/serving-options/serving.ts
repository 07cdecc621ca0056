/** The flags about the server itself: addresses, ports, times. */
import type { FlagValues } from '../../apiserver/serving-flags/index.ts'
import { parseCidr } from '../../lib/cidr.ts'

export const usualPort = 6443

/** What upstream says about values that cannot be; empty if all is well. */
export function servingErrors(flags: FlagValues): string[] {
  const port = flags.int('secure-port') ?? usualPort
  const timeoutMs = flags.durationMs('request-timeout') ?? 1
  const ranges = flags.text('service-cluster-ip-range')?.split(',') ?? []
  return [
    ...(port < 0 || port > 65_535 ? [`--secure-port ${port} must be between 1 and 65535, inclusive. It cannot be turned off with 0`] : []),
    ...(timeoutMs <= 0 ? ['--request-timeout must be longer than 0'] : []),
    ...(ranges.some((range) => range !== '' && !parseCidr(range.trim())) ? ['service-cluster-ip-range is not a valid cidr'] : []),
    ...(ranges.length > 2 ? ['--service-cluster-ip-range must not contain more than two entries'] : []),
  ]
}
