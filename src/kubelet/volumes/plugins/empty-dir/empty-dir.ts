/** emptyDir: a folder that lives as long as the pod, on disk, in memory or in huge pages. */
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { compareQuantities, wholeValue } from '../../../../machinery/values/quantity.ts'
import { allContainers, type Pod, specOf } from '../../../pod-types.ts'
import { fsGroupOf } from '../../content/file-owner.ts'
import { applyGroup } from '../../files/group-ownership.ts'
import { undefinedIfMissing } from '../../files/missing.ts'
import { clearFolder, removeIfEmpty, removeTree } from '../../mounts/clear-folder.ts'
import { mountAt } from '../../mounts/mount-table.ts'
import type { Mounter } from '../../mounts/mounter.ts'
import type { VolumePaths } from '../../volume-paths.ts'
import type { HostVolume, SetUpRequest, VolumePlugin } from '../../volume-plugin.ts'
import type { MemoryFolders } from './memory-folders.ts'
import { podMemoryLimit } from './pod-memory.ts'
import { makeVolumeFolder } from './volume-folder.ts'

export const emptyDirName = 'kubernetes.io/empty-dir'

export interface EmptyDirOptions {
  readonly paths: VolumePaths
  readonly mounter: Mounter
  readonly memory: MemoryFolders
  readonly log: (line: string) => void
}

const hugePages = 'HugePages'
const hugePagesOf = /^HugePages-(.+)$/

export const emptyDirPlugin = (options: EmptyDirOptions): VolumePlugin => ({
  name: emptyDirName,
  isRefreshed: false,
  hasMountOptions: false,
  supports: ({ volume }) => volume?.emptyDir !== undefined,
  setUp: (request) => setUp(options, request),
  async tearDown({ uid, name, path }) {
    await clearFolder(options.mounter, path)
    const notes = options.paths.pluginFolder(uid, emptyDirName)
    await removeTree(join(notes, name))
    await removeIfEmpty(notes)
    await removeIfEmpty(dirname(notes))
  },
})

async function setUp(options: EmptyDirOptions, { pod, spec, folder }: SetUpRequest): Promise<HostVolume> {
  const mounted: HostVolume = { path: folder, isReadOnly: false, isRelabeled: true }
  const { medium = '' } = spec.volume?.emptyDir ?? {}
  const notes = join(options.paths.pluginFolder(pod.metadata.uid ?? '', emptyDirName), spec.name)
  if (await isReady(options.mounter, folder, notes, medium !== '')) return mounted
  await make(options, { pod, spec, folder }, medium)
  const group = fsGroupOf(pod)
  if (group !== undefined) await applyGroup(folder, { group, isReadOnly: false }, options.log)
  await mkdir(notes, { recursive: true, mode: 0o750 })
  await writeFile(join(notes, 'ready'), '')
  return mounted
}

/**
 * True if the volume was set up before, as by a kubelet before a restart: its owner and mode are not set again, since a
 * container may have changed them. A medium in memory is lost at a reboot of the node.
 */
async function isReady(mounter: Mounter, folder: string, notes: string, needsMount: boolean): Promise<boolean> {
  if (!(await stat(join(notes, 'ready')).catch(undefinedIfMissing))) return false
  if (needsMount) return mountAt(await mounter.list(), folder) !== undefined
  return (await stat(folder).catch(undefinedIfMissing)) !== undefined
}

async function make(options: EmptyDirOptions, { pod, spec, folder }: SetUpRequest, medium: string): Promise<void> {
  const { sizeLimit } = spec.volume?.emptyDir ?? {}
  if (medium === '') await makeVolumeFolder(folder)
  else if (medium === 'Memory')
    await options.memory.mount(folder, [podMemoryLimit(pod), sizeLimit === undefined ? 0n : wholeValue(sizeLimit)])
  else if (medium === hugePages || hugePagesOf.test(medium)) await mountHugePages(options.mounter, folder, medium, pod)
  else throw new Error(`unknown storage medium ${JSON.stringify(medium)}`)
}

async function mountHugePages(mounter: Mounter, folder: string, medium: string, pod: Pod): Promise<void> {
  const option = `pagesize=${pageSize(medium, pod)}`
  await makeVolumeFolder(folder)
  if (mountAt(await mounter.list(), folder)?.type === 'hugetlbfs') return
  await mounter.mount({ source: 'nodev', target: folder, type: 'hugetlbfs', options: [option] })
}

/** The page size of a medium, which a container or the pod must request. Throws an Error with upstream's message. */
export function pageSize(medium: string, pod: Pod): string {
  const wanted = hugePagesOf.exec(medium)?.[1]
  const requested = requestedPageSizes(pod)
  const sizes = wanted === undefined ? requested : requested.filter((size) => compareQuantities(size, wanted) === 0)
  const [first] = sizes
  if (first === undefined)
    throw new Error(`medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`)
  if (sizes.some((size) => compareQuantities(size, first) !== 0))
    throw new Error(`medium: ${medium} can't be used if container requests multiple huge page sizes`)
  return first
}

function requestedPageSizes(pod: Pod): string[] {
  const all = [specOf(pod).resources, ...allContainers(pod).map(({ resources }) => resources)]
  return all
    .flatMap((resources) => Object.keys(resources?.requests ?? {}))
    .flatMap((name) => /^hugepages-(.+)$/.exec(name)?.[1] ?? [])
}
