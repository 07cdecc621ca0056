/** Tells kubelets how long they may keep secrets and config maps: the more nodes there are, the longer. */
import { type Controller, watch } from '../../client/controller/controller.ts'
import { nodes } from '../../client/kinds.ts'
import { unlessGone } from '../refusals.ts'

const annotation = 'node.alpha.kubernetes.io/ttl'

/**
 * From and up to how many nodes, and for how many seconds. They overlap, so that one node more or less does not change
 * all others.
 */
const steps = [
  { least: 0, most: 100, seconds: 0 },
  { least: 90, most: 500, seconds: 15 },
  { least: 450, most: 1000, seconds: 30 },
  { least: 900, most: 2000, seconds: 60 },
  { least: 1800, most: Number.POSITIVE_INFINITY, seconds: 300 },
] as const

/** The step that follows from the one before when there are so many nodes. */
export function nextStep(step: number, nodes: number): number {
  if (nodes > steps[step]!.most) return nextStep(step + 1, nodes)
  return nodes < steps[step]!.least ? nextStep(step - 1, nodes) : step
}

export const secondsOf = (step: number): number => steps[step]!.seconds

export function timeToLive(): Controller {
  let count = 0
  let step = 0
  return {
    name: 'ttl-controller',
    watches: [
      watch({
        resource: nodes,
        onChange(node, before) {
          if (node && !before) count++
          else if (!node && before) count--
          step = nextStep(step, count)
        },
      }),
    ],
    async reconcile(name, { client, caches }) {
      const node = caches.get(nodes, '', name)
      const wanted = `${secondsOf(step)}`
      if (!node || node.metadata.annotations?.[annotation] === wanted) return
      await client.patch(nodes, '', name, { metadata: { annotations: { [annotation]: wanted } } }).catch(unlessGone)
    },
  }
}
