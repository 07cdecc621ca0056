/** An etcd, and an API server on it, as processes whose CPU time is measured apart. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { grantRights } from '../server/rights.ts'
import { cpuMs, freePort, isReady, type Server } from '../server/server.ts'

export interface Etcd {
  readonly process: ChildProcess
  readonly url: string
}

/** Starts an etcd with its data in a new folder of `directory`. Ends it if it does not serve. */
export async function startEtcd(directory: string): Promise<Etcd> {
  const [clientPort, peerPort] = [await freePort(), await freePort()]
  const [url, peerUrl] = [`http://127.0.0.1:${clientPort}`, `http://127.0.0.1:${peerPort}`]
  const clientUrls = [`--listen-client-urls=${url}`, `--advertise-client-urls=${url}`]
  const peerUrls = [
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
  ]
  const child = spawn('etcd', [`--data-dir=${join(directory, 'etcd')}`, ...clientUrls, ...peerUrls], {
    stdio: 'ignore',
  })
  while (!(await isHealthy(url))) {
    if (child.exitCode !== null) throw new Error(`etcd ended with ${child.exitCode}`)
    await delay(20)
  }
  return { process: child, url }
}

const isHealthy = (url: string): Promise<boolean> =>
  fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  )

/** A command and its first words. */
export type Program = readonly [string, ...string[]]

/** Starts an API server on etcd, with these flags, and waits until it is ready and its user has rights. */
export async function startOn(
  etcd: Etcd,
  program: Program,
  directory: string,
  flags: readonly string[],
): Promise<Server> {
  const port = await freePort()
  mkdirSync(directory, { recursive: true })
  const started = performance.now()
  const [command, ...words] = program
  const places = [
    `--etcd-servers=${etcd.url}`,
    `--secure-port=${port}`,
    `--cert-dir=${join(directory, 'certificates')}`,
  ]
  const child = spawn(command, [...words, ...places, '--bind-address=127.0.0.1', ...flags], { stdio: 'ignore' })
  while (!(await isReady(port))) {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`)
    await delay(5)
  }
  const readyMs = performance.now() - started
  const url = `https://127.0.0.1:${port}`
  await grantRights(url)
  return { process: child, url, readyMs }
}

/** CPU time of an etcd so far, in ms. */
export const etcdCpuMs = (etcd: Etcd): number => cpuMs({ ...etcd, readyMs: 0 }) ?? Number.NaN

export async function stopProcess({ process: child }: { readonly process: ChildProcess }): Promise<void> {
  if (child.exitCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
