/** The measured server: `./t8s up` as a child process, and its resources. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { auditPolicy, prepare } from './rights.ts'

/**
 * The controllers that every pod write needs. Others are not measured, since the reference is kube-apiserver without
 * kube-controller-manager.
 */
const fewControllers = ['serviceaccount', 'root-ca-cert-publisher']

export const launcher = join(import.meta.dirname, '../../t8s')

export interface Server {
  readonly process: ChildProcess
  readonly url: string
  /** Time from the start of the process to the first ok of /readyz, in ms. */
  readonly readyMs: number
}

/**
 * Starts a server with its data in `directory/data`, the features of a cluster (RBAC, default plugins, priority and
 * fairness) and an audit log, and waits until it is ready and its user has rights.
 */
export async function startServer(
  directory: string,
  tokenFile: string,
  more: readonly string[] = [],
  controllers: readonly string[] = fewControllers,
): Promise<Server> {
  const port = await freePort()
  const policy = join(directory, 'audit-policy.json')
  writeFileSync(policy, auditPolicy)
  const audit = [
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${join(directory, 'audit.log')}`,
    '--audit-log-maxbackup=1',
  ]
  const started = performance.now()
  const flags = [
    '--nodes=0',
    '--data-dir',
    join(directory, 'data'),
    '--secure-port',
    String(port),
    '--token-auth-file',
    tokenFile,
  ]
  const child = spawn(launcher, ['up', ...flags, `--controllers=${controllers.join()}`, ...audit, ...more], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `https://127.0.0.1:${port}`
  while (!(await isReady(port))) {
    if (child.exitCode !== null) throw new Error(`t8s up ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const readyMs = performance.now() - started
  await prepare(url)
  return { process: child, url, readyMs }
}

export async function stopServer({ process: child }: Server): Promise<void> {
  if (child.exitCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** Resident memory in MB. The launcher's shell execs the server. */
export function residentMegabytes({ process: { pid } }: Server): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString()) / 1024
}

export interface Memory {
  readonly resident: number
  /** Private memory and memory mapped from files, in MB. */
  readonly anonymous: number
  readonly file: number
}

/** Memory of the process according to the kernel. Linux only. */
export function memoryOf({ process: { pid } }: Pick<Server, 'process'>): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  const megabytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024
  return { resident: megabytes('VmRSS'), anonymous: megabytes('RssAnon'), file: megabytes('RssFile') }
}

/** Total size of the files in a folder and its subfolders, in MB. */
export function directoryMegabytes(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) / 1024 / 1024
}

/** Linux reports CPU time in hundredths of a second, regardless of its clock. */
const msPerTick = 10

/** CPU time of the server so far in ms, with all threads and child processes. Undefined without /proc. */
export function cpuMs({ process: { pid } }: Server): number | undefined {
  let processes: Map<number, { readonly parent: number; readonly ticks: number }>
  try {
    processes = new Map(readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? statOf(Number(name)) : [])))
  } catch {
    return undefined
  }
  const isServer = (id: number): boolean => id === pid || (processes.has(id) && isServer(processes.get(id)!.parent))
  let ticks = 0
  for (const [id, process] of processes) if (isServer(id)) ticks += process.ticks
  return ticks * msPerTick
}

/** Empty if the process has exited. */
function statOf(pid: number): [number, { parent: number; ticks: number }][] {
  try {
    // The name in parentheses may contain any character; state, parent and so on follow it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    // User and system time, and those of children that have ended.
    const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0)
    return [[pid, { parent: Number(fields[1]), ticks }]]
  } catch {
    return []
  }
}

/** Returns a port of loopback that is free at present. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  return port
}

/** Returns true if the server on this port of loopback answers /readyz with 200. */
export function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request(
      { host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false, agent: false },
      (response) => {
        response.resume()
        resolve(response.statusCode === 200)
      },
    )
    sent.on('error', () => resolve(false))
    sent.end()
  })
}
