/**
 * Runs checks in a virtual machine with cgroup v2, AppArmor and all capabilities, which this machine may lack: Debian's
 * cloud kernel under QEMU, without hardware support. Needs the packages qemu-system-x86, apparmor, crun and runc.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { fetchKernel } from './disk/kernel.ts'
import { makeDisk } from './disk/root-disk.ts'

const banner =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

const program = join(import.meta.dirname, 'checks.ts')

/** Resolves with the output of the machine until it has turned itself off, or after the time. */
export async function runChecks(executors: readonly string[], timeoutMs: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 't8s-machine-'))
  try {
    const checks = join(folder, 'checks.js')
    const common = { bundle: true, platform: 'node', format: 'esm', logLevel: 'error' } as const
    await build({ ...common, entryPoints: [program], outfile: checks, banner: { js: banner }, external: ['koffi'] })
    const disk = join(folder, 'disk.img')
    mkdirSync(join(folder, 'root'))
    makeDisk(disk, join(folder, 'root'), { checks, executors })
    const { image, initialFiles } = fetchKernel(folder)
    return await outputOf(
      [
        ...['-machine', 'q35', '-accel', 'tcg,thread=multi', '-cpu', 'max', '-m', '2048', '-smp', '2'],
        ...['-nographic', '-no-reboot', '-net', 'none', '-kernel', image, '-initrd', initialFiles],
        ...['-drive', `file=${disk},format=raw,if=virtio`],
        ...['-append', 'console=ttyS0 quiet panic=-1 rdinit=/init apparmor=1 security=apparmor'],
      ],
      timeoutMs,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
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
