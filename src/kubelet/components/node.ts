/** This machine as a node: its facts, its Node object and Lease. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseDurationMs } from '../../lib/duration.ts'
import type { Lifetime } from '../../lib/lifetime/lifetime.ts'
import type { KubeletConfiguration } from '../configuration/defaults.ts'
import { readMachine } from '../registration/machine.ts'
import { capacityOf } from '../registration/node-object.ts'
import type { NodeIntervals } from '../registration/node-registration.ts'
import { NodeRegistration } from '../registration/node-registration.ts'
import { PodRange } from '../registration/pod-range.ts'
import { reservedAmounts } from '../resources/reserved.ts'
import { component, type KubeletParts } from './parts.ts'

export const machine = component({
  name: 'machine',
  needs: ['options'],
  gives: ['machine', 'node'],
  async start({ options: { root, nodeName, nodeIps } }) {
    await mkdir(join(root, 'pods'), { recursive: true, mode: 0o750 })
    const machine = readMachine(root)
    return { machine, node: { name: nodeName ?? machine.hostname, ips: nodeIps ?? machine.addresses.slice(0, 1) } }
  },
})

/** Retries until the API server answers; the node exists then. */
export const registration = component({
  name: 'node registration',
  needs: [
    'options',
    'client',
    'recorder',
    'ownNode',
    'runtime',
    'machine',
    'node',
    'health',
    'changes',
    'images',
    'pressure',
    'port',
    'csi',
    'schedule',
  ],
  gives: ['registration'],
  start(parts, lifetime) {
    const { options, client, recorder, machine, node, health, changes, images, pressure, port, csi, schedule } = parts
    const { configuration, nodeLabels = {}, podCidrs = [], log } = options
    const maxPods = maxPodsOf(configuration, machine.cpus)
    const registration = new NodeRegistration({
      client,
      machine,
      settings: {
        name: node.name,
        labels: nodeLabels,
        taints: configuration.registerWithTaints,
        maxPods,
        podCidrs,
        providerId: configuration.providerID,
        reserved: reservedAmounts(configuration, capacityOf(machine, maxPods)),
        nodeIps: node.ips,
        port,
      },
      creates: configuration.registerNode,
      intervals: intervalsOf(configuration),
      events: recorder,
      log,
      now: Date.now,
      schedule,
      runtime: async () => ({ ...(await health.check()), images: await images.forStatus() }),
      volumesInUse: () => csi.inUse.names,
      problems: () => [
        ...(csi.problem === undefined ? [] : [csi.problem]),
        ...(changes.problem === undefined ? [] : [changes.problem]),
        ...health.problems,
      ],
      pressures: () => pressure.states,
    })
    csi.inUse.onChange = () => registration.report()
    lifetime.onEnd(() => registration.stop())
    followPodRange(parts, registration, lifetime)
    return { registration }
  },
})

/** The range of the node's pods is that of the options or the configuration until the node has one. */
function followPodRange(
  { options: { configuration, podCidrs = [], log }, runtime, ownNode, schedule }: RangeParts,
  registration: NodeRegistration,
  lifetime: Lifetime,
): void {
  const send = async (podCidrs: string): Promise<void> => {
    await runtime.setPodRange(podCidrs)
    // The network of pods may be ready by it. A node that is not registered yet is reported then.
    if (registration.node) registration.report()
  }
  const range = new PodRange({ send, log, schedule })
  lifetime.onEnd(() => range.stop())
  range.set(podCidrs.length > 0 ? podCidrs : configuration.podCIDR ? [configuration.podCIDR] : [])
  ownNode.onChange((node) => range.set(node?.spec?.podCIDRs ?? []))
}

type RangeParts = Pick<KubeletParts, 'options' | 'runtime' | 'ownNode' | 'schedule'>

/** `podsPerCore` may lower `maxPods`. */
const maxPodsOf = ({ maxPods, podsPerCore }: KubeletConfiguration, cpus: number): number =>
  podsPerCore > 0 ? Math.min(maxPods, podsPerCore * cpus) : maxPods

const intervalsOf = (configuration: KubeletConfiguration): NodeIntervals => ({
  checkMs: parseDurationMs(configuration.nodeStatusUpdateFrequency) ?? 10_000,
  reportMs: parseDurationMs(configuration.nodeStatusReportFrequency) ?? 300_000,
  leaseSeconds: configuration.nodeLeaseDurationSeconds,
})
