/**
 * The thread that connects pods. The kernel's answers take some milliseconds, and the thread enters the network of the
 * pod for a moment: neither may happen on the main thread of a server.
 */
import { join } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { systemCalls } from '../../../lib/linux/system-calls.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { AddressConflict } from '../../../network/arp/check/address-check.ts'
import type { Attachment } from '../../../network/cni/attachment.ts'
import { enableLoopback } from '../../../network/cni/plugin/loopback.ts'
import { PodNetwork } from '../../../network/cni/pod-network.ts'
import { addressRange } from '../../../network/ipam/address-range.ts'
import {
  interfaceName,
  type NetworkOutcome,
  type NetworkReport,
  type NetworkSettings,
  type NetworkTask,
} from './network-tasks.ts'

/** Of the task that runs. */
const conflicts: AddressConflict[] = []
let problem: string | undefined

/** A thread that is ended does not close its files: it does so while it still waits for tasks. */
const closeAfterMs = 5000
let idle: NodeJS.Timeout | undefined

let current: { readonly settings: string; readonly network: PodNetwork } | undefined

/** The network of the settings; the one before, if they are the same: it knows that its rules exist. */
function networkOf(settings: NetworkSettings): PodNetwork {
  const text = JSON.stringify(settings)
  if (current?.settings !== text) {
    current?.network.close()
    current = { settings: text, network: createNetwork(settings) }
  }
  return current.network
}

const createNetwork = ({ bridge, ranges, formerRanges, mtu, notMasqueraded, folder }: NetworkSettings): PodNetwork =>
  new PodNetwork({
    calls: systemCalls(),
    name: bridge,
    bridge,
    mtu,
    hairpin: true,
    masquerade: true,
    notMasqueraded,
    rangeSets: ranges.map((subnet) => [addressRange({ subnet })]),
    formerRanges,
    addressDirectory: join(folder, 'addresses'),
    recordDirectory: join(folder, 'records'),
    onConflict: (found) => conflicts.push(...found),
    onProblem: (message) => (problem = message),
  })

async function connect(settings: NetworkSettings, attachment: Attachment): Promise<NetworkOutcome> {
  const result = await networkOf(settings).add(attachment)
  return { result, conflicts: conflicts.splice(0), ...(problem !== undefined && { problem }) }
}

async function perform(task: NetworkTask): Promise<NetworkOutcome> {
  switch (task.kind) {
    case 'connect':
      return connect(task.settings, task.attachment)
    case 'disconnect': {
      const network = networkOf(task.settings)
      await network.remove({ id: task.id, interfaceName })
      return { isUnused: await network.removeIfUnused() }
    }
    case 'retain': {
      const network = networkOf(task.settings)
      await network.removeOthers(task.ids.map((id) => ({ id, interfaceName })))
      return { isUnused: await network.removeIfUnused() }
    }
    case 'loopback':
      enableLoopback(systemCalls(), task.namespaceFile)
      return {}
    case 'close':
      current?.network.close()
      return {}
    default:
      return task satisfies never
  }
}

parentPort?.on('message', async (task: NetworkTask) => {
  let report: NetworkReport
  clearTimeout(idle)
  conflicts.length = 0
  problem = undefined
  try {
    report = { done: await perform(task) }
  } catch (error) {
    report = { failed: messageOf(error) }
  }
  idle = setTimeout(() => current?.network.close(), closeAfterMs).unref()
  parentPort?.postMessage(report)
})
