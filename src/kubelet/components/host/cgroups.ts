/** The cgroups of pods and of the node. */
import { readdirSync } from 'node:fs'
import { messageOf } from '../../../lib/message-of.ts'
import { type CgroupTree, codeOf } from '../../../node/cgroups/tree/cgroup-tree.ts'
import { CgroupTreeV1 } from '../../../node/cgroups/tree/cgroup-tree-v1.ts'
import { hugePageName } from '../../../node/cgroups/tree/cgroup-values.ts'
import { findCgroups } from '../../../node/cgroups/tree/find-cgroups.ts'
import { type CgroupDriver, nameOf } from '../../cgroups/cgroup-names.ts'
import { NodeCgroups, processCapacity } from '../../cgroups/node-cgroups.ts'
import { PodCgroups } from '../../cgroups/pod-cgroups.ts'
import { SystemdTree } from '../../cgroups/systemd-tree.ts'
import type { NodeResources } from '../../cri/linux-resources.ts'
import { isTerminal, statusOf } from '../../pod-types.ts'
import { capacityOf } from '../../registration/node-object.ts'
import { reservationFaults, reservedAmounts } from '../../resources/reserved.ts'
import { component, type KubeletParts, nodeReference } from '../parts.ts'

/** The interval in ms at which the weights of QoS classes are set again. */
const updateMs = 60_000
/** Errors of places where cgroups cannot be made, such as a container without access to those of its machine. */
const notWritable = ['EROFS', 'EACCES', 'EPERM']

/** Rejects if `cgroupRoot` does not exist, or a reserved cgroup cannot be limited. */
export const cgroups = component({
  name: 'cgroups',
  needs: ['options', 'runtime', 'recorder', 'machine', 'node', 'desired', 'schedule'],
  gives: ['cgroups', 'nodeResources'],
  async start(parts, lifetime) {
    const { options, runtime, desired, schedule } = parts
    const { configuration, log } = options
    const { cgroupRoot, cgroupsPerQOS, podPidsLimit, cpuCFSQuota } = configuration
    const driver = (await runtime.cgroupDriver()) ?? (configuration.cgroupDriver as CgroupDriver)
    const root = cgroupsPerQOS ? [...nameOf(cgroupRoot), 'kubepods'] : []
    const found = findCgroups()
    checkMachine(parts, found)
    const managed = driver === 'systemd' ? new SystemdTree(found) : found
    const tree = cgroupsPerQOS && !isEmpty(found) ? limitNode(parts, managed, driver, lifetime) : undefined
    const pageSizes = hugePageSizes()
    const cgroups = new PodCgroups({
      tree,
      driver,
      root,
      podPidsLimit,
      hasQuota: cpuCFSQuota,
      hugePageSizes: pageSizes,
      log,
    })
    cgroups.createClasses()
    let cancel = (): void => {}
    const update = (): void => {
      try {
        cgroups.updateClasses(desired.pods.filter((pod) => !isTerminal(statusOf(pod).phase)))
      } catch (error) {
        log(`cannot update the cgroups of QoS classes: ${messageOf(error)}`)
      }
      cancel = schedule(update, updateMs)
    }
    update()
    lifetime.onEnd(() => cancel())
    return { cgroups, nodeResources: nodeResources(parts, found, cgroups.rootPath, pageSizes) }
  },
})

/** True in a user namespace without cgroups. */
const isEmpty = (tree: CgroupTree): boolean => tree instanceof CgroupTreeV1 && tree.isEmpty

type Sources = Pick<KubeletParts, 'options' | 'recorder' | 'machine' | 'node' | 'schedule'>

/** Limits all pods together. Returns the tree; undefined, after a line in the log, if cgroups are not writable. */
function limitNode(
  { options: { configuration, log }, recorder, machine, node, schedule }: Sources,
  tree: CgroupTree,
  driver: CgroupDriver,
  lifetime: { onEnd(callback: () => void): void },
): CgroupTree | undefined {
  const { cgroupRoot, maxPods, systemReserved, kubeReserved, enforceNodeAllocatable } = configuration
  const { systemReservedCgroup, kubeReservedCgroup } = configuration
  const reference = nodeReference(node)
  const pid = processCapacity()
  try {
    checkRoot(tree, cgroupRoot)
    const nodeCgroups = new NodeCgroups({
      tree,
      driver,
      root: [...nameOf(cgroupRoot), 'kubepods'],
      capacity: { ...capacityOf(machine, maxPods), ...(pid !== undefined && { pid }) },
      systemReserved,
      kubeReserved,
      systemReservedCgroup,
      kubeReservedCgroup,
      enforced: enforceNodeAllocatable,
      record: (type, reason, message) => recorder.record(reference, type, reason, message, node.name),
      schedule,
    })
    lifetime.onEnd(() => nodeCgroups.stop())
    nodeCgroups.createRoot()
    nodeCgroups.enforce()
    return tree
  } catch (error) {
    if (!notWritable.includes(codeOf(error) ?? '')) throw error
    log(
      `cannot make cgroups: ${messageOf(error)}; pods run without limits of their own and of the node: ` +
        'mount /sys/fs/cgroup writable, or set cgroupsPerQOS: false and enforceNodeAllocatable: [none]',
    )
    return undefined
  }
}

/** Throws an Error, with upstream's message, if the configuration does not fit the machine. */
function checkMachine({ options: { configuration }, machine }: Sources, tree: CgroupTree): void {
  if (configuration.failCgroupV1 && tree.version === 1)
    throw new Error(
      'kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be ' +
        'removed in a future release',
    )
  const capacity = capacityOf(machine, configuration.maxPods)
  const faults = reservationFaults(capacity, reservedAmounts(configuration, capacity))
  if (faults.length > 0) throw new Error(`invalid Node Allocatable configuration. ${faults.join(' ')}`)
}

function checkRoot(tree: CgroupTree, root: string): void {
  const name = nameOf(root)
  const missing = tree.missing(`/${name.join('/')}`)
  if (name.length === 0 || missing.length === 0) return
  const quoted = name.map((part) => JSON.stringify(part)).join(' ')
  throw new Error(`invalid configuration: cgroup [${quoted}] has some missing paths: ${missing.join(', ')}`)
}

/** The kernel's sizes of huge pages by the names in files of cgroups; none without support. */
function hugePageSizes(): string[] {
  try {
    return readdirSync('/sys/kernel/mm/hugepages').map((name) =>
      hugePageName(BigInt(/\d+/.exec(name)?.[0] ?? 0) * 1024n),
    )
  } catch {
    return []
  }
}

function nodeResources(
  { options: { configuration }, machine }: Sources,
  tree: CgroupTree,
  root: string,
  hugePageSizes: readonly string[],
): NodeResources {
  const { cpuCFSQuota, singleProcessOOMKill } = configuration
  if (tree.version === 1 && singleProcessOOMKill === false)
    throw new Error(
      'invalid configuration: singleProcessOOMKill must not be explicitly set to false when using cgroup v1',
    )
  return {
    memory: machine.memory,
    hugePageSizes,
    cgroupVersion: tree.version,
    hasSwapLimit: tree.hasSwapLimit(root),
    hasQuota: cpuCFSQuota,
    killsSingleProcess: singleProcessOOMKill ?? tree.version === 1,
  }
}
