/** The addresses of a real node in its cluster. */
import type { CheckedNode } from '../checks/requirements.ts'

/** The addresses of the node: in a cluster of both families one of each, that of the first range of Services first. */
export function nodeIps(
  { ips, otherIp }: Pick<CheckedNode, 'ips' | 'otherIp'>,
  serviceRanges: string,
): readonly string[] {
  const [first = '', second] = serviceRanges.split(',')
  if (second === undefined || otherIp === undefined) return ips
  return first.includes(':') ? [otherIp, ...ips] : [...ips, otherIp]
}
