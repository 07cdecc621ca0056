/**
 * Mounts a block device. One without a file system is formatted first; one with a file system is checked, and never
 * formatted. Programs, arguments and messages are upstream's.
 */
import type { Mounter } from './mounter.ts'
import type { RunProgram } from './run-program.ts'

export interface DeviceMount {
  readonly device: string
  readonly target: string
  /** Such as `ext4`. */
  readonly type: string
  readonly options: readonly string[]
}

const fsckErrorsCorrected = 1
const fsckErrorsUncorrected = 4
const blkidNothingFound = 2

/** Rejects with upstream's message. */
export async function formatAndMount(mounter: Mounter, run: RunProgram, mount: DeviceMount): Promise<void> {
  const { device, target, type, options } = mount
  const isReadOnly = options.includes('ro')
  const present = await fileSystemOf(run, device)
  if (present === undefined) {
    if (isReadOnly)
      throw new Error(`cannot mount unformatted disk ${device} as we are manipulating it in read-only mode`)
    await format(run, device, type)
  } else if (!isReadOnly) await check(run, device)
  try {
    await mounter.mount({ source: device, target, type, options: [...options, 'defaults'] })
  } catch (error) {
    if (present === undefined || present === type) throw error
    const { message } = error as Error
    throw new Error(
      `failed to mount the volume as ${JSON.stringify(type)}, it already contains ${present}. Mount error: ${message}`,
    )
  }
}

/** The type of the file system of a device. Undefined for an empty device; `unknown data` for a partition table. */
async function fileSystemOf(run: RunProgram, device: string): Promise<string | undefined> {
  const { code, output } = await run('blkid', ['-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', device])
  if (code === blkidNothingFound) return undefined
  if (code !== 0) throw new Error(`failed to get disk format of disk ${device}: exit status ${code}: ${output}`)
  const values = new Map(output.split('\n').map((line) => line.split('=', 2) as [string, string]))
  if (values.has('PTTYPE')) return 'unknown data, probably partitions'
  return values.get('TYPE')
}

async function format(run: RunProgram, device: string, type: string): Promise<void> {
  const flags = type === 'ext4' || type === 'ext3' ? ['-F', '-m0'] : type === 'xfs' ? ['-f'] : []
  const { code, output } = await run(`mkfs.${type}`, [...flags, device])
  if (code === 0) return
  throw new Error(
    `format of disk "${device}" failed: type:("${type}") errcode:(exit status ${code}) output:(${output})`,
  )
}

/** Repairs what can be repaired without loss. */
async function check(run: RunProgram, device: string): Promise<void> {
  const { code, output } = await run('fsck', ['-a', device]).catch(() => ({ code: 0, output: '' }))
  if (code === fsckErrorsCorrected || code !== fsckErrorsUncorrected) return
  throw new Error(`'fsck' found errors on device ${device} but could not correct them: ${output}`)
}
