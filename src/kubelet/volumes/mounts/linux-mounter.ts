/** Mounts by the programs of util-linux. Messages of failures are upstream's. */
import { readFile } from 'node:fs/promises'
import { parseMountTable } from './mount-table.ts'
import type { Mounter, MountRequest } from './mounter.ts'
import { runProgram } from './run-program.ts'

/** Options that a bind mount takes only when it is mounted a second time. */
const bindOptions: ReadonlySet<string> = new Set(['bind', 'rbind', 'remount'])

export const linuxMounter: Mounter = {
  async list() {
    return parseMountTable(await readFile('/proc/self/mountinfo', 'utf8'))
  },

  async mount(request) {
    const { options } = request
    if (!options.includes('bind')) return mount(request)
    await mount({ ...request, options: ['bind'] })
    const further = options.filter((option) => !bindOptions.has(option))
    if (further.length === 0) return
    try {
      await mount({ ...request, options: ['bind', 'remount', ...further] })
    } catch (error) {
      // Without its options, as `ro`, the mount is not what was requested.
      await this.unmount(request.target)
      throw error
    }
  },

  async unmount(target) {
    const { code, output } = await runProgram('umount', ['--no-canonicalize', target])
    if (code === 0 || /not mounted|no mount point specified/.test(output)) return
    throw new Error(`unmount failed: exit status ${code}\nUnmounting arguments: ${target}\nOutput: ${output}\n`)
  },
}

async function mount({ source, target, type, options }: MountRequest): Promise<void> {
  const args = [
    '--no-canonicalize',
    ...(type === undefined ? [] : ['-t', type]),
    ...(options.length === 0 ? [] : ['-o', options.join(',')]),
    source,
    target,
  ]
  const { code, output } = await runProgram('mount', args)
  if (code === 0) return
  const command = `Mounting command: mount\nMounting arguments: ${args.join(' ')}`
  throw new Error(`mount failed: exit status ${code}\n${command}\nOutput: ${output}\n`)
}
