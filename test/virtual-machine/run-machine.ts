/**
 * Runs checks in a virtual machine that has what this machine may lack: Debian's cloud kernel under QEMU, without
 * hardware support. Needs the packages qemu-system-x86, busybox-static and e2fsprogs.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { fetchKernel, type Kernel } from './disk/kernel.ts'
import { makeDisk } from './disk/root-disk.ts'

const banner =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

export interface Machine {
  /** The file with the tests, which is bundled as `/checks.js`. */
  readonly checks: string
  /** Files of programs that the checks start, which are bundled as `/NAME.js`. */
  readonly peers?: readonly string[]
  /** Adds files to the folder that becomes the disk. */
  readonly addFiles: (folder: string, kernel: Kernel) => void
  /** The size of the disk. */
  readonly megabytes: number
  readonly timeoutMs: number
}

/** The reason to skip the tests; false if all programs are installed. */
export function skipReason(programs: readonly string[]): string | false {
  const all = ['qemu-system-x86_64', 'mke2fs', ...programs]
  const missing = all.find((program) => spawnSync(program, ['--version']).error)
  return missing === undefined ? false : `${missing} is not installed`
}

/** Resolves with the output of the machine until it has turned itself off, or after the time. */
export async function runMachine({ checks, peers = [], addFiles, megabytes, timeoutMs }: Machine): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 't8s-machine-'))
  try {
    const root = join(folder, 'root')
    mkdirSync(root)
    await bundle(checks, join(root, 'checks.js'))
    for (const peer of peers) await bundle(peer, join(root, peer.split('/').at(-1)!.replace(/ts$/, 'js')))
    const kernel = fetchKernel(folder)
    addFiles(root, kernel)
    const disk = join(folder, 'disk.img')
    makeDisk(disk, root, megabytes)
    return await outputOf(
      [
        ...['-machine', 'q35', '-accel', 'tcg,thread=multi', '-cpu', 'max', '-m', '2048', '-smp', '2'],
        ...['-nographic', '-no-reboot', '-net', 'none', '-kernel', kernel.image, '-initrd', kernel.initialFiles],
        ...['-drive', `file=${disk},format=raw,if=virtio`],
        ...['-append', 'console=ttyS0 quiet panic=-1 rdinit=/init apparmor=1 security=apparmor'],
      ],
      timeoutMs,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function bundle(from: string, outfile: string): Promise<void> {
  const common = { bundle: true, platform: 'node', format: 'esm', logLevel: 'error' } as const
  await build({ ...common, entryPoints: [from], outfile, banner: { js: banner } })
}

async function outputOf(args: readonly string[], timeoutMs: number): Promise<string> {
  const machine = spawn('qemu-system-x86_64', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const timer = setTimeout(() => machine.kill('SIGKILL'), timeoutMs)
  let output = ''
  for (const stream of [machine.stdout, machine.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (process.env.T8S_MACHINE_OUTPUT) process.stderr.write(text)
    })
  await new Promise<void>((resolve, reject) => {
    machine.once('error', reject)
    machine.once('close', () => resolve())
  })
  clearTimeout(timer)
  return output
}
