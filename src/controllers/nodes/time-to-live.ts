/** Annotates nodes with the time for which kubelets cache secrets and config maps. It grows with the cluster. */
import { type Controller, watch } from '../../client/controller/controller.ts'
import { nodes } from '../../client/kinds.ts'
import { ignoreNotFound } from '../api-errors.ts'

const annotation = 'node.alpha.kubernetes.io/ttl'

/**
 * Cache times by number of nodes. The ranges overlap, so that adding or removing one node does not change all others.
 */
const steps = [
  { min: 0, max: 100, seconds: 0 },
  { min: 90, max: 500, seconds: 15 },
  { min: 450, max: 1000, seconds: 30 },
  { min: 900, max: 2000, seconds: 60 },
  { min: 1800, max: Number.POSITIVE_INFINITY, seconds: 300 },
] as const

/** Returns the step for a number of nodes, starting from the current step. */
export function nextStep(step: number, nodes: number): number {
  if (nodes > steps[step]!.max) return nextStep(step + 1, nodes)
  return nodes < steps[step]!.min ? nextStep(step - 1, nodes) : step
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
        onChange(node, old) {
          if (node && !old) count++
          else if (!node && old) count--
          step = nextStep(step, count)
        },
      }),
    ],
    async reconcile(name, { client, caches }) {
      const node = caches.get(nodes, '', name)
      const desired = `${secondsOf(step)}`
      if (!node || node.metadata.annotations?.[annotation] === desired) return
      await client
        .patch(nodes, '', name, { metadata: { annotations: { [annotation]: desired } } })
        .catch(ignoreNotFound)
    },
  }
}
