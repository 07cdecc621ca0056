/** Starts `etcd` and `kube-apiserver` of a folder as Go's envtest: certificates, flags, health requests, signals. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kubeconfigFor, kubeconfigYaml } from '../../src/kubeconfig/kubeconfig.ts'
import { issueCertificate, makeAuthority } from '../../src/lib/x509/certificates.ts'
import type { Lifetime, Reach } from '../support/reachable-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const repository = join(import.meta.dirname, '../..')

/** The launchers, and their own runtime directory for the shared process. */
export interface Assets {
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Program {
  readonly process: ChildProcess
  readonly output: () => string
  readonly exited: Promise<Exit>
}

export interface ControlPlane extends Reach {
  readonly folder: string
  readonly dataDir: string
  readonly etcd: Program
  readonly apiServer: Program
  readonly etcdUrl: string
  /** From the start of the first program to the first healthy response of each, ms. */
  readonly readyMs: { readonly etcd: number; readonly both: number }
  stop(): Promise<void>
}

/** Writes the launchers with `t8s envtest-assets`. Their shared process ends with the test. */
export function assets(t: Lifetime, given: Readonly<Record<string, string>> = {}): Assets {
  const root = mkdtempSync(join(tmpdir(), 't8s-envtest-'))
  const directory = join(root, 'bin')
  const env = { T8S_ENVTEST_RUNTIME_DIR: join(root, 'run'), T8S_ENVTEST_IDLE: '500ms', ...given }
  t.after(() => {
    const pid = sharedPid({ directory, env })
    if (pid !== undefined && isAlive(pid)) process.kill(pid)
    rmSync(root, { recursive: true, force: true })
  })
  execFileSync(join(repository, 't8s'), ['envtest-assets', directory], { stdio: ['ignore', 'ignore', 'inherit'] })
  return { directory, env }
}

/** Returns the pid of the shared process, or undefined if there is none. */
export function sharedPid(binaries: Assets): number | undefined {
  const file = runtimeFile(binaries, 'server')
  return file === undefined ? undefined : Number.parseInt(readFileSync(file, 'utf8'), 10)
}

/** Returns the path of a file in the runtime directory, or undefined if it does not exist. */
export function runtimeFile({ env }: Pick<Assets, 'env'>, name: string): string | undefined {
  const base = env.T8S_ENVTEST_RUNTIME_DIR!
  const build = existsSync(base) ? readdirSync(base)[0] : undefined
  const file = build === undefined ? undefined : join(base, build, name)
  return file !== undefined && existsSync(file) ? file : undefined
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Starts a program, and kills it after the test. */
export function run(
  t: Lifetime,
  { directory, env }: Assets,
  program: string,
  args: readonly string[],
  cwd = '/',
): Program {
  const child = spawn(join(directory, program), args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const exited = once(child, 'close').then(([code, signal]): Exit => ({ code, signal }))
  return { process: child, output: () => output, exited }
}

export interface StartOptions {
  /** The directory of an earlier control plane, to reuse its data. */
  readonly dataDir?: string
  readonly everyMs?: number
  readonly etcdFlags?: readonly string[]
  readonly apiServerFlags?: readonly string[]
}

/** The certificates of envtest, created once per test file since this takes longer than a start. */
const certificates = (async () => {
  const now = new Date()
  const authority = await makeAuthority('envtest-environment', now)
  const [serving, admin, signer] = await Promise.all([
    issueCertificate(authority, { commonName: 'localhost', usage: 'server', hosts: ['127.0.0.1', 'localhost'] }, now),
    issueCertificate(authority, { commonName: 'admin', organizations: ['system:masters'], usage: 'client' }, now),
    makeAuthority('sa-signer', now),
  ])
  return { authority, serving, admin, signer }
})()

/** Resolves when both are healthy. Rejects with the output if one ends first. */
export async function startControlPlane(
  t: Lifetime,
  binaries: Assets,
  options: StartOptions = {},
): Promise<ControlPlane> {
  const folder = mkdtempSync(join(tmpdir(), 'k8s_test_framework_'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { authority, admin } = await certificates
  await writeCertificates(folder)
  const dataDir = options.dataDir ?? join(folder, 'etcd')
  mkdirSync(dataDir, { recursive: true })
  const [etcdPort, port] = [await freePort(), await freePort()]
  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const url = `https://127.0.0.1:${port}`
  const { everyMs = 10 } = options

  const started = performance.now()
  const etcd = run(t, binaries, 'etcd', [
    ...etcdFlags(etcdUrl, dataDir),
    ...(options.etcdFlags ?? ['--unsafe-no-fsync=true']),
  ])
  await healthy(etcd, () => answers(`${etcdUrl}/health`), everyMs)
  const etcdMs = performance.now() - started
  const apiServer = run(t, binaries, 'kube-apiserver', [
    ...apiServerFlags(folder, etcdUrl, port),
    ...(options.apiServerFlags ?? []),
  ])
  await healthy(apiServer, () => answers(`${url}/healthz`), everyMs)
  const bothMs = performance.now() - started

  const client = { url, ca: authority.cert, ...admin }
  return {
    url,
    client,
    kubeconfigYaml: kubeconfigYaml(kubeconfigFor('envtest', client)),
    folder,
    dataDir,
    etcd,
    apiServer,
    etcdUrl,
    readyMs: { etcd: etcdMs, both: bothMs },
    async stop() {
      await terminate(apiServer)
      await terminate(etcd)
    },
  }
}

/** Writes the files that `apiServerFlags` names, and the serving certificate. */
async function writeCertificates(folder: string): Promise<void> {
  const { authority, serving, signer } = await certificates
  const texts = {
    'apiserver.crt': serving.cert,
    'apiserver.key': serving.key,
    'client-cert-auth-ca.crt': authority.cert,
    'sa-signer.crt': signer.cert,
    'sa-signer.key': signer.key,
  }
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text, { mode: 0o640 })
}

/** envtest's own flags. */
const etcdFlags = (url: string, dataDir: string): readonly string[] => [
  `--advertise-client-urls=${url}`,
  `--data-dir=${dataDir}`,
  `--listen-client-urls=${url}`,
  '--listen-peer-urls=http://localhost:0',
]

/** envtest's own flags. */
const apiServerFlags = (folder: string, etcdUrl: string, port: number): readonly string[] => [
  '--allow-privileged=true',
  '--authorization-mode=RBAC',
  '--bind-address=127.0.0.1',
  `--cert-dir=${folder}`,
  `--client-ca-file=${join(folder, 'client-cert-auth-ca.crt')}`,
  '--disable-admission-plugins=ServiceAccount',
  `--etcd-servers=${etcdUrl}`,
  `--secure-port=${port}`,
  `--service-account-issuer=https://127.0.0.1:${port}/`,
  `--service-account-key-file=${join(folder, 'sa-signer.crt')}`,
  `--service-account-signing-key-file=${join(folder, 'sa-signer.key')}`,
  '--service-cluster-ip-range=10.0.0.0/24',
]

/** Sends SIGTERM and waits for the end. */
export function terminate({ process: child, exited }: Program): Promise<Exit> {
  child.kill('SIGTERM')
  return exited
}

async function healthy(program: Program, probe: () => Promise<boolean>, everyMs: number): Promise<void> {
  await waitFor(
    'health',
    async () => {
      const { exitCode, signalCode } = program.process
      return exitCode !== null || signalCode !== null || probe()
    },
    { everyMs },
  )
  if (program.process.exitCode !== null) throw new Error(`ended with ${program.process.exitCode}: ${program.output()}`)
}

/** True if a GET responds with 200; false for a failed connection. */
export const answers = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const answered = (response: IncomingMessage): void => {
      response.resume()
      resolve(response.statusCode === 200)
    }
    const request = url.startsWith('https:')
      ? httpsGet(url, { rejectUnauthorized: false, agent: false }, answered)
      : httpGet(url, { agent: false }, answered)
    request.on('error', () => resolve(false))
  })

/** Below the ports of outgoing connections, which could otherwise take a port before a program listens on it. */
const ports = { first: 15_000, count: 15_000 }
const given = new Set<number>()

/** Returns a free port that this process has not used before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = ports.first + Math.floor(Math.random() * ports.count)
    if (given.has(port)) continue
    given.add(port)
    const probe = createServer().listen(port, '127.0.0.1')
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}
