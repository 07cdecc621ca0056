/** NodeVolumeLimits: at most as many volumes of a driver as the node's CSINode allows. */

import { claimClass } from '../../../../api/core/storage/binding/storage-class.ts'
import {
  type CSINode,
  csiNodes,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
  volumeAttachments,
} from '../../../../client/kinds.ts'
import {
  type Handle,
  type NodeInfo,
  on,
  type Plugin,
  type PodInfo,
  pluginFactory,
  skip,
  unresolvable,
  unschedulable,
} from '../../../framework/index.ts'
import { claimNameOf, type PodVolume, usesClaim } from '../pod-volumes.ts'
import { driverOf, inTreeVolume } from './migration.ts'

const tooMany = unschedulable('node(s) exceed max volume count')

/** A volume attached by a driver. */
interface Attached {
  readonly driver: string
  /** Unique in the cluster. */
  readonly id: string
}

export const nodeVolumeLimits = pluginFactory({ name: 'NodeVolumeLimits', make })

const mayAttach = ({ persistentVolumeClaim, ephemeral, ...source }: PodVolume): boolean =>
  Boolean(persistentVolumeClaim ?? ephemeral ?? inTreeVolume(source))

const byNode = ({ spec }: { spec: { nodeName: string } }): readonly string[] => [spec.nodeName]

function make(_: undefined, handle: Handle): Plugin {
  const nodes = handle.lister(csiNodes)
  const claims = handle.lister(persistentVolumeClaims)
  const volumes = handle.lister(persistentVolumes)
  const classes = handle.lister(storageClasses)
  const attachments = handle.lister(volumeAttachments)

  return {
    events: [
      on(
        'CSINode',
        ['Add', 'Update'],
        (_pod, before, after) => !before || after === undefined || mayHoldMore(before, after),
      ),
      on(
        'Pod',
        ['Delete'],
        (pod, before) => before?.spec?.volumes?.some(mayAttach) === true && pod.pod.spec?.volumes !== undefined,
      ),
      on('PersistentVolumeClaim', ['Add', 'Update'], (pod, _before, after) => usesClaim(pod, after)),
      on('VolumeAttachment', ['Delete']),
    ],

    preFilter: (pod) => (pod.pod.spec?.volumes?.some(mayAttach) ? { state: undefined } : skip),

    filter(_state, pod, node) {
      const csiNode = nodes.get('', node.name)
      const limits = csiNode && limitsOf(csiNode)
      if (!limits || limits.size === 0) return undefined
      const missing = missingClaim(pod)
      if (missing) return unresolvable(`persistentvolumeclaim "${missing}" not found`)
      const there = volumesOn(node, csiNode)
      const added = [...attachedBy(pod, csiNode)].filter(({ id }) => !there.has(id))
      const wanted = new Map<string, Set<string>>()
      for (const { driver, id } of added) wanted.set(driver, (wanted.get(driver) ?? new Set()).add(id))
      for (const [driver, ids] of wanted) {
        const used = [...there.values()].filter((other) => other === driver).length
        if (used + ids.size > (limits.get(driver) ?? Number.POSITIVE_INFINITY)) return tooMany
      }
      return undefined
    },
  }

  function missingClaim(pod: PodInfo): string | undefined {
    return (pod.pod.spec?.volumes ?? [])
      .map((volume) => claimNameOf(pod, volume))
      .find((name) => name !== undefined && !claims.get(pod.namespace, name))
  }

  /** The volumes of a node by id, with their drivers: those of its pods, and all attachments. */
  function volumesOn(node: NodeInfo, csiNode: CSINode): Map<string, string> {
    const found = new Map<string, string>()
    for (const pod of node.pods) for (const { driver, id } of attachedBy(pod, csiNode)) found.set(id, driver)
    for (const { spec } of attachments.by(byNode, node.name)) {
      const attached = spec.source.persistentVolumeName
        ? ofVolume(spec.source.persistentVolumeName, csiNode)
        : undefined
      if (attached) found.set(attached.id, attached.driver)
    }
    return found
  }

  function* attachedBy(pod: PodInfo, csiNode: CSINode): Generator<Attached> {
    for (const volume of pod.pod.spec?.volumes ?? []) {
      const name = claimNameOf(pod, volume)
      const claim = name === undefined ? undefined : claims.get(pod.namespace, name)
      const attached = claim ? ofClaim(claim, csiNode) : ofSource(volume, csiNode)
      if (attached) yield attached
    }
  }

  /** A claim without a volume counts for the driver of its class. */
  function ofClaim(claim: PersistentVolumeClaim, csiNode: CSINode): Attached | undefined {
    const found = claim.spec?.volumeName ? ofVolume(claim.spec.volumeName, csiNode) : undefined
    if (found || (claim.spec?.volumeName && volumes.get('', claim.spec.volumeName))) return found
    const provisioner = classes.get('', claimClass(claim))?.provisioner
    const driver = provisioner && driverOf(provisioner, csiNode)
    return driver ? { driver, id: `claim ${claim.metadata.namespace}/${claim.metadata.name}` } : undefined
  }

  function ofVolume(name: string, csiNode: CSINode): Attached | undefined {
    const { csi, ...source } = volumes.get('', name)?.spec ?? {}
    return csi ? { driver: csi.driver, id: `${csi.driver}/${csi.volumeHandle}` } : ofSource(source, csiNode)
  }
}

function ofSource(source: Parameters<typeof inTreeVolume>[0], csiNode: CSINode): Attached | undefined {
  const volume = inTreeVolume(source)
  const driver = volume && driverOf(volume.plugin, csiNode)
  return driver ? { driver, id: `${driver}/${volume.handle}` } : undefined
}

function limitsOf({ spec }: CSINode): Map<string, number> {
  return new Map(
    spec.drivers.flatMap(({ name, allocatable }) =>
      allocatable?.count === undefined ? [] : [[name, allocatable.count] as const],
    ),
  )
}

function mayHoldMore(before: CSINode, after: CSINode): boolean {
  const [was, is] = [limitsOf(before), limitsOf(after)]
  return [...was].some(([driver, count]) => (is.get(driver) ?? Number.POSITIVE_INFINITY) > count)
}
