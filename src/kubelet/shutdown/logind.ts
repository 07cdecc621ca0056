/**
 * systemd's logind: locks that delay a shutdown, and the announcement of one. It is reached by systemd's own programs
 * (`busctl`, `systemd-inhibit`), since a lock is a file descriptor, which Node cannot receive over a socket.
 */
import { execFile, spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const run = promisify(execFile)

const manager = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager'] as const
const systemd = ['org.freedesktop.systemd1', '/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager'] as const
const announcement =
  "type='signal',interface='org.freedesktop.login1.Manager',member='PrepareForShutdown'," +
  "path='/org/freedesktop/login1'"
const overrideFolder = '/etc/systemd/logind.conf.d'
const hangUp = '1'

/** A lock that delays the shutdown until it is released, or this process has ended. */
export interface ShutdownLock {
  release(): void
}

/** The announcements of shutdowns, until `stop` is called. */
export interface ShutdownWatch {
  /** Resolves when there will be no more announcements, as when the bus restarts. */
  readonly ended: Promise<void>
  stop(): void
}

export interface Logind {
  /** The longest time in ms that a lock delays a shutdown. */
  maxDelayMs(): Promise<number>
  /** Sets that time in logind's configuration, and makes logind read it. */
  setMaxDelay(ms: number): Promise<void>
  lock(): Promise<ShutdownLock>
  /** Calls back with true when a shutdown begins, and with false when it is cancelled. */
  watch(announced: (isShuttingDown: boolean) => void): Promise<ShutdownWatch>
}

/** The logind of this machine. All methods reject if there is no system bus, or no logind on it. */
export const systemLogind: Logind = {
  async maxDelayMs() {
    const answer = await busctl('get-property', ...manager, 'InhibitDelayMaxUSec')
    return (JSON.parse(answer) as { readonly data: number }).data / 1000
  },

  async setMaxDelay(ms) {
    await mkdir(overrideFolder, { recursive: true, mode: 0o755 })
    const text = `# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=${Math.round(ms / 1000)}\n`
    await writeFile(join(overrideFolder, '99-kubelet.conf'), text, { mode: 0o644 })
    await busctl('call', ...systemd, 'KillUnit', 'ssi', 'systemd-logind.service', 'all', hangUp)
  },

  async lock() {
    const why = 'Kubelet needs time to handle node shutdown'
    const options = ['--what=shutdown', '--who=kubelet', `--why=${why}`, '--mode=delay']
    // The command begins when the lock is taken, and ends with the pipe from this process.
    const child = spawn('systemd-inhibit', [...options, 'sh', '-c', 'echo locked; exec cat >/dev/null'], {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    child.stdin.on('error', () => {})
    await started(child, 'systemd-inhibit')
    return { release: () => void child.stdin.end() }
  },

  async watch(announced) {
    const child = spawn('busctl', ['--system', '--json=short', 'monitor', `--match=${announcement}`], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    child.once('close', () => resolve())
    createInterface(child.stdout).on('line', (line) => {
      const isShuttingDown = announcedBy(line)
      if (isShuttingDown !== undefined) announced(isShuttingDown)
    })
    // It writes a first line when it has become a monitor of the bus.
    await started(child, 'busctl')
    return { ended, stop: () => void child.kill() }
  },
}

async function busctl(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('busctl', ['--system', '--json=short', ...args], { timeout: 10_000 })
  return stdout
}

/** Resolves at the first output of a program. Rejects with its error if it ends before. */
function started(child: ReturnType<typeof spawn>, program: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
    if (text.startsWith('Monitoring bus message stream')) resolve()
  })
  child.stdout?.once('data', () => resolve())
  child.once('error', reject)
  child.once('close', (code) => reject(new Error(`${program} has ended with ${code}: ${errors.trim()}`)))
  return promise
}

/** The value of a `PrepareForShutdown` as busctl prints it; undefined for another line. */
function announcedBy(line: string): boolean | undefined {
  try {
    const { member, payload } = JSON.parse(line) as { member?: string; payload?: { data?: readonly unknown[] } }
    const [value] = payload?.data ?? []
    return member === 'PrepareForShutdown' && typeof value === 'boolean' ? value : undefined
  } catch {
    return undefined
  }
}
