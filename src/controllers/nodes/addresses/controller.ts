/** Gives each node a range of addresses for its pods, where it has none (`--allocate-node-cidrs`). */
import { type Controller, watch } from '../../../client/controller/controller.ts'
import { type Node, nodes } from '../../../client/kinds.ts'
import { parseCidr } from '../../../lib/cidr.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import type { FlagValues } from '../../flags.ts'
import { messageOf, unlessGone } from '../../refusals.ts'
import { type ClusterRange, clusterRanges } from './flags.ts'
import { RangeMetrics } from './metrics.ts'
import { NodeRanges } from './ranges.ts'

const name = 'node-ipam-controller'

/** Throws an ExplainedError for flags that do not go together. */
export function nodeAddresses(flags: FlagValues, metrics = new RangeMetrics()): Controller {
  const ranges = clusterRanges(flags).map((range) => rangesOf(range, metrics))
  metrics.follow(ranges)
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
        // What nodes have is known before any gets a new one: keys are looked at when all are there.
        onChange(node, before) {
          if (!node) each(before, release)
          else if (!before?.spec?.podCIDRs?.length) each(node, take)
        },
      }),
    ],
    async reconcile(key, { caches, client, events }) {
      const node = caches.get(nodes, '', key)
      if (!node || node.spec?.podCIDRs?.length) return
      const taken: string[] = []
      const giveBack = (): void => {
        for (const text of taken) for (const range of ranges) release(range, text)
      }
      for (const range of ranges) {
        const free = range.takeFree()
        if (free !== undefined) taken.push(free)
      }
      if (taken.length < ranges.length) {
        giveBack()
        const about = { apiVersion: 'v1', kind: 'Node', name: key, uid: node.metadata.uid }
        events.record(about, 'Normal', 'CIDRNotAvailable', `Node ${key} status is now: CIDRNotAvailable`)
        throw new Error(
          'no range of addresses is left for it: choose a larger --cluster-cidr, or a longer mask for nodes',
        )
      }
      const patch = {
        metadata: { resourceVersion: node.metadata.resourceVersion },
        spec: { podCIDR: taken[0], podCIDRs: taken },
      }
      try {
        if (!(await client.patch(nodes, '', key, patch).catch(unlessGone))) giveBack()
      } catch (error) {
        giveBack()
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
