/** Volumes with content from the API: they are written atomically, and are read-only for containers. */
import { allContainers, type Pod } from '../../../pod-types.ts'
import { fsGroupOf } from '../../content/file-owner.ts'
import type { Payload } from '../../content/payload.ts'
import { writeAtomically } from '../../files/atomic-writer.ts'
import { applyGroup } from '../../files/group-ownership.ts'
import { makeNestedMountPoints } from '../../files/nested-mount-points.ts'
import { clearFolder } from '../../mounts/clear-folder.ts'
import type { Mounter } from '../../mounts/mounter.ts'
import type { HostVolume, SetUpRequest, VolumePlugin, VolumeSpec } from '../../volume-plugin.ts'
import type { MemoryFolders } from '../empty-dir/memory-folders.ts'
import { podMemoryLimit } from '../empty-dir/pod-memory.ts'
import { makeVolumeFolder } from '../empty-dir/volume-folder.ts'

export interface ContentVolumeOptions {
  readonly mounter: Mounter
  readonly memory: MemoryFolders
  readonly log: (line: string) => void
}

export interface ContentKind {
  readonly name: string
  /** True for secret content, which is only written to memory. */
  readonly isInMemory: boolean
  supports(spec: VolumeSpec): boolean
  /** The files. Rejects if a required object is missing. */
  payload(request: SetUpRequest): Promise<Payload> | Payload
}

export const contentVolume = (kind: ContentKind, options: ContentVolumeOptions): VolumePlugin => ({
  name: kind.name,
  isRefreshed: true,
  hasMountOptions: false,
  supports: (spec) => kind.supports(spec),
  setUp: (request) => setUp(kind, options, request),
  tearDown: ({ path }) => clearFolder(options.mounter, path),
})

async function setUp(kind: ContentKind, options: ContentVolumeOptions, request: SetUpRequest): Promise<HostVolume> {
  const { pod, spec, folder } = request
  // Nothing is made before all objects are present.
  const payload = await kind.payload(request)
  const group = fsGroupOf(pod)
  const isNew = await makeFolder(kind, options, folder, pod)
  if (isNew && group !== undefined) await applyGroup(folder, { group, isReadOnly: false }, options.log)
  await makeNestedMountPoints(folder, spec.podName, allContainers(pod))
  await writeAtomically(folder, payload, {
    prepare: async (version) => {
      if (group !== undefined) await applyGroup(version, { group, isReadOnly: true }, options.log)
    },
  })
  return { path: folder, isReadOnly: true, isRelabeled: true }
}

const makeFolder = (
  { isInMemory }: ContentKind,
  { memory }: ContentVolumeOptions,
  folder: string,
  pod: Pod,
): Promise<boolean> => (isInMemory ? memory.mount(folder, [podMemoryLimit(pod)]) : makeVolumeFolder(folder))
