/**
 * A server in its own process and data directory, which is killed and restarted during a test. Requests are repeated
 * until they are answered; it is unknown if a request without a response was processed.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { ServerAccess } from '../../../src/client/connection/connection.ts'
import { loadAccess } from '../../../src/client/connection/load-access.ts'
import { type Answer, type ReachableCluster, reachable } from '../../support/reachable-cluster.ts'
import { type Running, temporaryFolder, up } from '../../up/t8s-process.ts'

/** Time that a request waits for a running server, in ms. */
const patienceMs = 60_000

export class CrashingServer {
  readonly access: ServerAccess
  kills = 0
  /** Number of requests that got no response and were repeated. */
  lost = 0
  readonly #cluster: ReachableCluster
  readonly #start: () => Promise<Running>
  #running: Promise<Running>

  private constructor(
    access: ServerAccess,
    cluster: ReachableCluster,
    start: () => Promise<Running>,
    running: Running,
  ) {
    this.access = access
    this.#cluster = cluster
    this.#start = start
    this.#running = Promise.resolve(running)
  }

  /** Starts a server with flags of `t8s up`; it stops with the test. */
  static async start(t: TestContext, flags: readonly string[]): Promise<CrashingServer> {
    const folder = temporaryFolder(t)
    const kubeconfig = join(folder, 'kubeconfig')
    const start = (port: string): Promise<Running> =>
      up(t, ['--data-dir', folder, '--kubeconfig', kubeconfig, '--secure-port', port, ...flags])
    const running = await start('0')
    const access = await loadAccess({ kubeconfig })
    const { url, ca = '', cert = '', key = '' } = access
    const cluster = reachable(t, {
      url,
      client: { url, ca, cert, key },
      kubeconfigYaml: readFileSync(kubeconfig, 'utf8'),
    })
    return new CrashingServer(access, cluster, () => start(new URL(url).port), running)
  }

  /** Kills and restarts the server. Does not wait for the restart: requests do. */
  kill(): void {
    this.kills++
    this.#running = this.#running.then(async ({ process, exited }) => {
      process.kill('SIGKILL')
      await exited
      return this.#start()
    })
    // Pending requests report a server that does not restart.
    this.#running.catch(() => {})
  }

  /** Resolves when the last killed server has restarted. */
  async back(): Promise<void> {
    await this.#running
  }

  /**
   * As a test's cluster does it, across kills. What a lost request has created already is read, what it has deleted is
   * `{}`.
   */
  readonly call: ReachableCluster['call'] = async (method, path, body, contentType) => {
    const deadline = performance.now() + patienceMs
    for (let isAgain = false; ; isAgain = true) {
      try {
        return await this.#cluster.call(method, path, body, contentType)
      } catch (error) {
        if (isAgain && method === 'POST' && isStatus(error, 409))
          return await this.call('GET', `${path}/${nameIn(body)}`)
        if (isAgain && method === 'DELETE' && isStatus(error, 404)) return {} as Answer
        // 429 and 503: the server is starting.
        if ((isAnswered(error) && !isStatus(error, 429) && !isStatus(error, 503)) || performance.now() > deadline)
          throw error
        this.lost++
        await delay(20)
      }
    }
  }

  /** The server as a test cluster. */
  get cluster(): ReachableCluster {
    return { ...this.#cluster, call: this.call }
  }
}

const isAnswered = (error: unknown): boolean => /: \d{3} /.test(String(error))
const isStatus = (error: unknown, status: number): boolean => String(error).includes(`: ${status} `)
const nameIn = (body: object | string | undefined): string => (body as { metadata: { name: string } }).metadata.name
