/**
 * Runs this program once more in user namespaces, in which it is root: with users, mounts, processes and a network of
 * its own. This process remains outside: it maps users, runs the program of the network, and listens on ports of the
 * machine.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { constants, homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { ExplainedError } from '../../lib/explained-error.ts'
import { Lifetime } from '../../lib/lifetime/lifetime.ts'
import type { Log } from '../../lib/log/log.ts'
import { socketFolderVariable } from '../../lib/rootless/socket-folder.ts'
import { handlesSignal, textOf } from '../host/processes.ts'
import { limitationsOf } from './limitations.ts'
import { startNetwork } from './network-process.ts'
import { findNetworkProgram, resolverConfiguration } from './network-program.ts'
import { makeOwnFolder, type OwnFolder } from './own-folder.ts'
import { serveHostPorts } from './ports/host-ports.ts'
import { setUpScript } from './set-up-script.ts'
import { userMaps, writeMaps } from './user-maps.ts'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const pollMs = 20

/**
 * Logs what is weaker. Resolves with the exit code. Rejects with an ExplainedError if this machine does not allow it.
 */
export async function runInNamespaces(log: Log): Promise<number> {
  const lifetime = new Lifetime()
  try {
    const folder = await makeOwnFolder()
    lifetime.onEnd(() => rmSync(folder.path, { recursive: true, force: true }))
    const ports = await serveHostPorts(folder.path)
    lifetime.onEnd(() => ports.close())
    const maps = userMaps()
    const network = findNetworkProgram()
    const firstPort = Number(textOf('/proc/sys/net/ipv4/ip_unprivileged_port_start'))
    const child = await startChild(folder, network !== undefined)
    lifetime.onEnd(() => void child.kill('SIGKILL'))
    await writeMaps(child.pid!, maps)
    if (network) lifetime.onEnd(await startNetwork(network, child.pid!, log))
    log(limitationsOf({ hasIdRanges: maps.hasRanges, hasNetwork: network !== undefined, firstPort }))
    return await runToEnd(child)
  } finally {
    await lifetime.end()
  }
}

const namespaces = ['--user', '--mount', '--net', '--ipc', '--uts', '--pid', '--cgroup', '--fork', '--kill-child']

/** Resolves with a process whose namespaces exist, and which waits for a line on file 3. */
async function startChild({ path, parent }: OwnFolder, hasNetwork: boolean): Promise<ChildProcess> {
  const resolver = hasNetwork ? join(path, 'resolv.conf') : ''
  if (resolver) writeFileSync(resolver, resolverConfiguration(textOf('/etc/resolv.conf')))
  const runtime = dirname(parent)
  const program = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const script = ['/bin/sh', '-c', setUpScript, 't8s-namespaces', runtime, resolver, ...program]
  const child = spawn('unshare', [...namespaces, ...script], {
    // A session of its own: the terminal sends signals to this process only, which forwards them once.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'],
    env: { ...process.env, HOME: homedir(), XDG_RUNTIME_DIR: runtime, [socketFolderVariable]: path },
  })
  const ready = child.stdio[4] as Readable
  const [chunk] = await Promise.race([once(ready, 'data'), once(child, 'exit')])
  if (chunk instanceof Buffer) return child
  throw new ExplainedError(
    'the kernel does not allow user namespaces to this user: allow them (sysctl kernel.unprivileged_userns_clone=1, ' +
      'or on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0), or use sudo',
  )
}

/** Lets the child continue, and forwards signals. Resolves with its exit code. */
async function runToEnd(child: ChildProcess): Promise<number> {
  const forward = (signal: NodeJS.Signals): void => void sendWhenHandled(child, signal)
  for (const signal of signals) process.on(signal, forward)
  ;(child.stdio[3] as Writable).end('go\n')
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  for (const signal of signals) process.off(signal, forward)
  return code ?? 128 + constants.signals[signal!]
}

/** The kernel ignores signals to the first process of a PID namespace until that has handlers for them. */
async function sendWhenHandled(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  while (child.exitCode === null) {
    const [pid] = childrenOf(child.pid!)
    if (pid !== undefined && handlesSignal(pid, constants.signals[signal])) {
      process.kill(pid, signal)
      return
    }
    await delay(pollMs)
  }
}

/** `unshare` has one child, the first process of the namespaces. */
const childrenOf = (pid: number): number[] =>
  textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
