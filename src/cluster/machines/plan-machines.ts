/** Plans the machines of a cluster on this machine: network namespaces on a bridge, each of which is a node. */
import { join } from 'node:path'
import { addressAt, parseCidr } from '../../lib/cidr.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { ObstacleError } from '../real-node/checks/obstacle-error.ts'
import { machineObstacle, thisMachine } from '../real-node/checks/obstacles.ts'
import { type CheckedNode, checkRealNode } from '../real-node/checks/requirements.ts'
import type { RealNode } from '../real-node/index.ts'
import { instanceOf } from '../real-node/settings/embedded-runtime.ts'
import { nodeIps } from '../real-node/settings/node-ips.ts'
import { freePodRange, machineNetworks } from '../real-node/settings/pod-range.ts'

/** A machine that is a node. */
export interface PlannedMachine {
  readonly node: CheckedNode
  /** The folder of its files. */
  readonly folder: string
}

export interface MachinesPlan {
  readonly machines: readonly PlannedMachine[]
  /** The folder of the files of all machines. */
  readonly folder: string
  readonly bridge: string
  /** The networks of the machines: `10.127.7.0/24`, and one of IPv6. Their first addresses are those of the bridge. */
  readonly lans: readonly string[]
}

/** Of these ranges, each cluster on this machine takes a part. That of IPv6 is local (RFC 4193). */
const lanRanges = ['10.127.0.0/16', 'fd8c:5be2:a1d1::/48']
const maxMachines = 100

/** Throws an ExplainedError for a number that is not possible. */
export function checkCount(count: number): void {
  if (Number.isInteger(count) && count >= 1 && count <= maxMachines) return
  throw new ExplainedError(`a cluster can have 1 to ${maxMachines} machines, not ${count}`)
}

/** Rejects with an ExplainedError that says what this machine lacks. `folder` is that of the cluster's nodes. */
export async function planMachines(
  count: number,
  options: RealNode,
  folder: string | undefined,
  log: (line: string) => void,
): Promise<MachinesPlan> {
  checkCount(count)
  if (folder === undefined)
    throw new ExplainedError('a cluster in memory cannot have machines: set storage to { directory }')
  const { containerRuntimeEndpoint, docker, ports, name } = options
  if (containerRuntimeEndpoint !== undefined || docker !== undefined)
    throw new ExplainedError('machines run the runtime of Typernetes: leave out the flag of another container runtime')
  if (ports && ports.length > 0)
    throw new ExplainedError('--port maps ports of a node that is this machine: leave out --machines, or --port')
  if (name !== undefined) throw new ExplainedError('machines are named machine-1, machine-2, …: leave out the name')
  const obstacle = machineObstacle(thisMachine())
  if (obstacle) throw noMachines(obstacle.reason, obstacle.remedy)
  const instance = instanceOf(folder)
  const used = machineNetworks(bridgeOf(instance))
  const lans = lanRanges.map((range) => freePodRange(range, instance, used))
  const machines: PlannedMachine[] = []
  for (let index = 1; index <= count; index++) {
    const own = join(folder, 'machines', `machine-${index}`)
    const [ip = '', otherIp] = lans.map((lan) => addressAt(parseCidr(lan)!, index + 1))
    const node = { ...options, name: `machine-${index}`, ips: [ip] }
    // They say the same about each machine.
    const notice = index === 1 ? log : () => {}
    machines.push({ node: { ...(await checked(node, own, notice)), otherIp }, folder: own })
  }
  return { machines, folder: join(folder, 'machines'), bridge: bridgeOf(instance), lans }
}

/** The plan for the families of Services: machines have both if Services have, and else IPv4. */
export function planForFamilies(plan: MachinesPlan, serviceRanges: string): MachinesPlan {
  const count = serviceRanges.split(',').length
  return {
    ...plan,
    lans: plan.lans.slice(0, count),
    machines: plan.machines.map(({ node, folder }) => ({
      node: { ...node, ips: nodeIps(node, serviceRanges) },
      folder,
    })),
  }
}

async function checked(node: RealNode, folder: string, log: (line: string) => void): Promise<CheckedNode> {
  try {
    return await checkRealNode(node, folder, log)
  } catch (error) {
    throw error instanceof ObstacleError ? noMachines(error.obstacle.reason, error.obstacle.remedy) : error
  }
}

const noMachines = (reason: string, remedy: string): ExplainedError =>
  new ExplainedError(`this machine cannot have machines, because ${reason}: ${remedy}, or leave out --machines`)

/** Other than those of pods, which proxies of other clusters leave alone by their prefix. */
const bridgeOf = (instance: string): string => `t8m-${instance.slice(0, 8)}`
