/** Puts the volumes of a kubelet together: plug-ins, objects of the API, tokens and certificates. */
import { release } from 'node:os'
import type { Node } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { isInUserNamespace } from '../../lib/linux/user-namespace.ts'
import { wholeValue } from '../../machinery/values/quantity.ts'
import type { PodEvent } from '../../node/pods/pod-types.ts'
import { type FieldSources, fieldValue, resourceValue } from '../environment/field-values.ts'
import type { Pod } from '../pod-types.ts'
import { PodCertificates } from './certificates/pod-certificates.ts'
import type { ContainerMountsOptions } from './containers/container-mounts.ts'
import type { PodFields } from './content/pod-fields.ts'
import { linuxMounter } from './mounts/linux-mounter.ts'
import { runProgram } from './mounts/run-program.ts'
import { apiVolumeObjects, certificateCalls, requestToken } from './objects/api-volume-objects.ts'
import { LastKnownObjects } from './objects/last-known-objects.ts'
import type { CsiNode } from './plugins/csi/index.ts'
import { knowsNoSwap } from './plugins/empty-dir/memory-folders.ts'
import { PodVolumes } from './pod-volumes.ts'
import { TokenCache } from './tokens/token-cache.ts'
import { VolumePaths } from './volume-paths.ts'
import { volumePlugins } from './volume-plugins.ts'

export interface KubeletVolumesOptions
  extends Pick<ContainerMountsOptions, 'image' | 'canMountRecursivelyReadOnly' | 'hasSelinux' | 'log'> {
  readonly client: Pick<RestClient, 'find' | 'list' | 'create' | 'createUnder'>
  /** The kubelet's folder, `/var/lib/kubelet`. */
  readonly root: string
  /** The node as it is registered. */
  readonly node: () => Pick<Node, 'metadata' | 'status'>
  /** Values of the downward API that are not in the pod's spec. */
  fieldSources(pod: Pod): FieldSources
  readonly csi: Pick<CsiNode, 'plugin'>
  record(pod: Pod, event: PodEvent): void
  /** Wall time in ms since 1970. */
  readonly now: () => number
  /** Between 0 and 1. */
  readonly random: () => number
}

/** Resolves when volumes from before a restart are known. */
export async function kubeletVolumes(options: KubeletVolumesOptions): Promise<PodVolumes> {
  const { client, node, log } = options
  const paths = new VolumePaths(options.root)
  const objects = new LastKnownObjects(apiVolumeObjects(client), log)
  const tokens = new TokenCache({ ...options, request: requestToken(client) })
  const certificates = new PodCertificates({
    ...options,
    ...certificateCalls(client),
    node: () => ({ name: node().metadata.name ?? '', uid: node().metadata.uid ?? '' }),
  })
  const parts = { paths, mounter: linuxMounter, run: runProgram, objects, log, record: options.record.bind(options) }
  const builtIn = volumePlugins({
    ...parts,
    tokens,
    certificates,
    fields: podFields(options),
    allocatableMemory: () => wholeValue(node().status?.allocatable?.memory ?? '0'),
    // A user namespace may not use the option.
    canDisableSwap: knowsNoSwap(release()) && !isInUserNamespace(),
  })
  return new PodVolumes({
    ...options,
    ...parts,
    plugins: [...builtIn, await options.csi.plugin({ ...parts, tokens })],
    forget(uid) {
      tokens.forget(uid)
      certificates.forget(uid)
    },
  })
}

const podFields = (options: KubeletVolumesOptions): PodFields => ({
  field: (pod, path) => fieldValue(pod, path, options.fieldSources(pod)),
  resource: (pod, selector) =>
    // The selector names its container.
    resourceValue(pod, { name: '' }, selector, options.node().status?.allocatable ?? {}),
})
