/**
 * Writes the bindings of a pod's volumes and waits until all claims are bound: volumes get their claims, claims get the
 * node for provisioning.
 */
import { bindCompleted, has, selectedNode, withAnnotations } from '../../../../api/core/storage/binding/annotations.ts'
import { boundVolume } from '../../../../api/core/storage/binding/bind-volume.ts'
import {
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
} from '../../../../client/kinds.ts'
import type { RestClient } from '../../../../client/rest/rest-client.ts'
import type { PodInfo } from '../../../framework/index.ts'
import type { Assumed } from '../../assumed.ts'
import { reaches } from './claims.ts'
import type { PodVolumes } from './find-volumes.ts'

export interface Assumptions {
  readonly claims: Assumed<PersistentVolumeClaim>
  readonly volumes: Assumed<PersistentVolume>
}

/** The objects to write, without those that are up to date. */
interface Writes {
  readonly volumes: readonly PersistentVolume[]
  readonly claims: readonly PersistentVolumeClaim[]
}

function writesFor({ bindings, provisions }: PodVolumes, node: string): Writes {
  return {
    volumes: bindings.flatMap(({ claim, volume }) => {
      const bound = boundVolume(volume, claim)
      return bound === volume ? [] : [bound]
    }),
    claims: provisions.map(({ claim }) => withAnnotations(claim, { [selectedNode]: node })),
  }
}

/** Assumes the writes, so that they count for the next pods. */
export function assume(found: PodVolumes, node: string, { volumes, claims }: Assumptions): void {
  const writes = writesFor(found, node)
  for (const volume of writes.volumes) volumes.assume(volume)
  for (const claim of writes.claims) claims.assume(claim)
}

export function forget({ bindings, provisions }: PodVolumes, { volumes, claims }: Assumptions): void {
  for (const { volume } of bindings) volumes.forget(volume)
  for (const { claim } of provisions) claims.forget(claim)
}

/** Rejects with the error of the API server. */
export async function write(
  found: PodVolumes,
  node: string,
  client: RestClient,
  { volumes, claims }: Assumptions,
): Promise<void> {
  const writes = writesFor(found, node)
  for (const volume of writes.volumes) volumes.assume(await client.update(persistentVolumes, volume))
  for (const claim of writes.claims) claims.assume(await client.update(persistentVolumeClaims, claim))
}

/** The current objects. */
export interface CurrentObjects {
  node(name: string): Node | undefined
  pod(namespace: string, name: string): Pod | undefined
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined
  volume(name: string): PersistentVolume | undefined
}

/**
 * Returns true if all claims are bound. Throws an Error if they never will be, so that the pod has to be rescheduled.
 */
export function isBindingComplete(
  { bindings, provisions }: PodVolumes,
  pod: PodInfo,
  nodeName: string,
  objects: CurrentObjects,
): boolean {
  const node = objects.node(nodeName)
  if (!node) throw new Error(`failed to get node "${nodeName}": node "${nodeName}" not found`)
  const current = objects.pod(pod.namespace, pod.name)
  if (current?.metadata.uid !== pod.pod.metadata.uid)
    throw new Error(`pod does not exist any more: pod "${pod.name}" not found`)
  for (const { claim, volume } of bindings) {
    const name = volume.metadata.name ?? ''
    const live = objects.volume(name)
    if (!live) throw new Error(`failed to get pv "${name}" from cache: it has gone`)
    mustReach(live, node)
    if (!live.spec?.claimRef?.uid) throw new Error(`ClaimRef got reset for pv "${name}"`)
    if (!isBound(currentClaim(claim, objects))) return false
  }
  for (const { claim } of provisions) {
    const live = currentClaim(claim, objects)
    const name = `${live.metadata.namespace}/${live.metadata.name}`
    if (!live.metadata.annotations) throw new Error(`selectedNode annotation reset for PVC "${name}"`)
    // The provisioner removes the annotation if it cannot create the volume.
    if (live.metadata.annotations[selectedNode] !== nodeName) throw new Error(`provisioning failed for PVC "${name}"`)
    const volume = live.spec?.volumeName ? objects.volume(live.spec.volumeName) : undefined
    if (volume) mustReach(volume, node)
    if (!isBound(live) || !volume) return false
  }
  return true
}

const isBound = (claim: PersistentVolumeClaim): boolean => Boolean(claim.spec?.volumeName) && has(claim, bindCompleted)

/** Returns the current claim. Throws an Error if it was deleted. */
function currentClaim(
  { metadata: { namespace = '', name = '' } }: PersistentVolumeClaim,
  objects: CurrentObjects,
): PersistentVolumeClaim {
  const live = objects.claim(namespace, name)
  if (!live) throw new Error(`failed to get pvc "${namespace}/${name}": persistentvolumeclaim "${name}" not found`)
  return live
}

function mustReach(volume: PersistentVolume, node: Node): void {
  if (!reaches(volume)(node))
    throw new Error(
      `pv "${volume.metadata.name}" node affinity doesn't match node "${node.metadata.name}": no matching ` +
        'NodeSelectorTerms',
    )
}
