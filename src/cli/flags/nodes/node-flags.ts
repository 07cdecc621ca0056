/** The flags for simulated nodes, shared by `t8s up` and `t8s simulated-nodes`. */
import { readFileSync } from 'node:fs'
import { InvalidArgumentError, Option } from 'commander'
import type { SimulatedNodes } from '../../../cluster/simulation/index.ts'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { isQuantity } from '../../../machinery/values/quantity.ts'

export interface NodeFlags {
  readonly nodes?: number
  readonly nodeCpu?: string
  readonly nodeMemory?: string
  readonly nodePods?: string
  readonly nodeConfig?: string
  readonly podStages?: string
}

/** A higher number is probably a typing error. */
const maxNodes = 20_000

function quantity(text: string): string {
  if (!isQuantity(text)) throw new InvalidArgumentError('It must be a quantity such as 4, 500m or 16Gi.')
  return text
}

/** A number of nodes. */
export function nodeCount(text: string): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) > maxNodes)
    throw new InvalidArgumentError(`It must be a number from 0 to ${maxNodes}.`)
  return Number(text)
}

export const nodeFlags = (): readonly Option[] => [
  new Option(
    '--nodes <NUMBER>',
    'number of simulated nodes; 0 for none (default: as in the last run, else 1; 0 with a real node)',
  ).argParser(nodeCount),
  new Option('--node-cpu <QUANTITY>', 'CPUs of a node (default: 4)').argParser(quantity),
  new Option('--node-memory <QUANTITY>', 'memory of a node (default: 16Gi)').argParser(quantity),
  new Option('--node-pods <NUMBER>', 'maximum number of pods on a node (default: 110)').argParser(quantity),
  new Option(
    '--node-config <FILE>',
    'groups of nodes with labels, taints, zones and more (docs/simulated-nodes.md)',
  ).conflicts(['nodeCpu', 'nodeMemory', 'nodePods']),
  new Option('--pod-stages <FILE>', "the pods' stages: kwok's Stage objects"),
]

/** True if a flag is for simulated nodes. */
export const asksForSimulated = (flags: NodeFlags): boolean =>
  [flags.nodes, flags.nodeCpu, flags.nodeMemory, flags.nodePods, flags.nodeConfig, flags.podStages].some(
    (value) => value !== undefined,
  )

/** Reads the flags. Rejects with an ExplainedError for invalid files. */
export async function simulatedNodes({
  nodes: count,
  nodeCpu: cpu,
  nodeMemory: memory,
  nodePods: pods,
  nodeConfig,
  podStages,
}: NodeFlags): Promise<SimulatedNodes> {
  const stages = podStages ? await stagesIn(podStages) : undefined
  if (nodeConfig) return { ...(await fromFile(nodeConfig, count)), stages }
  if (!cpu && !memory && !pods) return { count, stages }
  const { usualGroup } = await import('../../../simulation/index.ts')
  const { shape } = usualGroup
  const capacity = { ...shape.capacity, ...(cpu && { cpu }), ...(memory && { memory }), ...(pods && { pods }) }
  return { count, stages, groups: [{ ...usualGroup, shape: { ...shape, capacity } }] }
}

async function stagesIn(file: string): Promise<string> {
  const { parseStages } = await import('../../../simulation/index.ts')
  try {
    const text = readFileSync(file, 'utf8')
    parseStages(text)
    return text
  } catch (error) {
    throw new ExplainedError(`cannot use the stages in ${file}: ${reasonOf(error)}; check --pod-stages`, {
      cause: error,
    })
  }
}

async function fromFile(file: string, count: number | undefined): Promise<SimulatedNodes> {
  const { parseNodeConfig } = await import('../../../simulation/index.ts')
  try {
    const groups = parseNodeConfig(readFileSync(file, 'utf8'))
    const total = groups.reduce((sum, group) => sum + (group.count ?? 0), 0)
    // If all groups have a count, the number of nodes is their sum.
    return { count: count ?? (groups.every((group) => group.count !== undefined) ? total : undefined), groups }
  } catch (error) {
    throw new ExplainedError(`cannot use the nodes in ${file}: ${reasonOf(error)}; check --node-config`, {
      cause: error,
    })
  }
}
