/** systemd's logind on a system bus of its own, in a mount namespace. Needs root, and the packages dbus and systemd. */
import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Lifetime } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

const run = promisify(execFile)
const program = '/lib/systemd/systemd-logind'

/** The reason why there is no logind here; false if there is one. */
export const logindProblem = (): string | false => {
  const missing = [program, '/usr/bin/dbus-daemon', '/usr/bin/busctl', '/usr/bin/systemd-inhibit']
  const first = missing.find((path) => !existsSync(path))
  return first ? `needs ${first} (packages dbus and systemd)` : false
}

const allow = ['user="*"', 'own="*"', 'send_type="method_call"', 'send_type="signal"', 'send_requested_reply="true"']

const busOf = (socket: string): string => `<busconfig><type>system</type><listen>unix:path=${socket}</listen>
<auth>EXTERNAL</auth><policy context="default">
${[...allow, 'receive_type="signal"', 'eavesdrop="true"'].map((rule) => `<allow ${rule}/>`).join('\n')}
</policy></busconfig>`

/** `/run` is a file system of its own, so that logind sees and changes nothing of this machine's. */
const script = (folder: string): string => `
set -e
mount -t tmpfs none /run
mkdir -p /run/systemd
dbus-daemon --config-file=${folder}/bus.conf --nofork 2>/dev/null &
trap 'kill $(jobs -p); wait' TERM
until [ -S ${folder}/bus ]; do sleep 0.1; done
SYSTEMD_LOG_TARGET=console ${program} 2>/dev/null &
wait
`

const manager = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager'] as const

export interface TestLogind {
  /** The locks that delay a shutdown, as busctl prints them. */
  locks(): Promise<string>
  /** Announces a shutdown or its cancellation. */
  announce(isShuttingDown: boolean): Promise<void>
}

/** Starts it as the system bus of this process. */
export async function startLogind(t: Lifetime): Promise<TestLogind> {
  const folder = mkdtempSync(join(tmpdir(), 't8s-logind-'))
  writeFileSync(join(folder, 'bus.conf'), busOf(join(folder, 'bus')))
  process.env.DBUS_SYSTEM_BUS_ADDRESS = `unix:path=${folder}/bus`
  const child = spawn('unshare', ['-m', 'bash', '-c', script(folder)], { stdio: ['ignore', 'ignore', 'inherit'] })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  t.after(async () => {
    child.kill()
    await exited
    rmSync(folder, { recursive: true, force: true })
  })
  const busctl = async (...args: readonly string[]): Promise<string> =>
    (await run('busctl', ['--system', ...args])).stdout
  const locks = (): Promise<string> => busctl('call', ...manager, 'ListInhibitors')
  await waitFor('logind answers', async () => (await locks()) !== '')
  return {
    locks,
    async announce(isShuttingDown) {
      const [, path, name] = manager
      await busctl('emit', path, name, 'PrepareForShutdown', 'b', String(isShuttingDown))
    },
  }
}
