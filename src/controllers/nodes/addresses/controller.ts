/** Allocates an address range for pods to each node without one (`--allocate-node-cidrs`). */
import { type Controller, watch } from '../../../client/controller/controller.ts'
import { type Node, nodes } from '../../../client/kinds.ts'
import { parseCidr } from '../../../lib/cidr.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { ignoreNotFound, messageOf } from '../../api-errors.ts'
import type { FlagValues } from '../../flags.ts'
import { type ClusterRange, clusterRanges } from './flags.ts'
import { RangeMetrics } from './metrics.ts'
import { NodeRanges } from './ranges.ts'

const name = 'node-ipam-controller'

/** Throws an ExplainedError for invalid combinations of flags. */
export function nodeAddresses(flags: FlagValues, metrics = new RangeMetrics()): Controller {
  const ranges = clusterRanges(flags).map((range) => rangesOf(range, metrics))
  metrics.setRanges(ranges)
  if (ranges.length === 0) return { name, watches: [] }

  const each = (node: Node | undefined, act: (range: NodeRanges, text: string) => void): void => {
    for (const text of node?.spec?.podCIDRs ?? []) for (const range of ranges) act(range, text)
  }
  return {
    name,
    component: 'cidrAllocator',
    watches: [
      watch({
        resource: nodes,
        // Existing ranges are recorded before any is allocated: reconciles start after the initial list.
        onChange(node, old) {
          if (!node) each(old, release)
          else if (!old?.spec?.podCIDRs?.length) each(node, take)
        },
      }),
    ],
    async reconcile(key, { caches, client, events }) {
      const node = caches.get(nodes, '', key)
      if (!node || node.spec?.podCIDRs?.length) return
      const taken: string[] = []
      const releaseAll = (): void => {
        for (const text of taken) for (const range of ranges) release(range, text)
      }
      for (const range of ranges) {
        const free = range.takeNext()
        if (free !== undefined) taken.push(free)
      }
      if (taken.length < ranges.length) {
        releaseAll()
        const about = { apiVersion: 'v1', kind: 'Node', name: key, uid: node.metadata.uid }
        events.record(about, 'Normal', 'CIDRNotAvailable', `Node ${key} status is now: CIDRNotAvailable`)
        throw new Error('no address range is free for it: choose a larger --cluster-cidr or a longer mask for nodes')
      }
      const patch = {
        metadata: { resourceVersion: node.metadata.resourceVersion },
        spec: { podCIDR: taken[0], podCIDRs: taken },
      }
      try {
        if (!(await client.patch(nodes, '', key, patch).catch(ignoreNotFound))) releaseAll()
      } catch (error) {
        releaseAll()
        throw error
      }
    },
  }
}

function rangesOf({ cidr, nodePrefix }: ClusterRange, metrics: RangeMetrics): NodeRanges {
  try {
    return new NodeRanges(cidr, nodePrefix, metrics)
  } catch (error) {
    throw new ExplainedError(`--cluster-cidr: ${messageOf(error)}`)
  }
}

function take(range: NodeRanges, text: string): void {
  const cidr = parseCidr(text)
  if (cidr) range.take(cidr)
}

function release(range: NodeRanges, text: string): void {
  const cidr = parseCidr(text)
  if (cidr) range.release(cidr)
}
