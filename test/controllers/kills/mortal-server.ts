/**
 * A server in a process and a data directory of its own, which is killed and started again while a test goes on:
 * requests are sent until they are answered. Whether one whose answer was lost has been done before is not known; it is
 * only sent again.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { ServerAccess } from '../../../src/client/connection/connection.ts'
import { loadAccess } from '../../../src/client/connection/load-access.ts'
import { type Answer, type ReachableCluster, reachable } from '../../support/reachable-cluster.ts'
import { type Running, temporaryFolder, up } from '../../up/t8s-process.ts'

/** How long a request waits for a server that answers. */
const patienceMs = 60_000

export class MortalServer {
  readonly access: ServerAccess
  kills = 0
  /** Requests whose answer did not come, and which were sent again. */
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

  /** Starts it with these flags of `t8s up`; it ends with the test. */
  static async start(t: TestContext, flags: readonly string[]): Promise<MortalServer> {
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
    return new MortalServer(access, cluster, () => start(new URL(url).port), running)
  }

  /** Kills it in the middle of whatever it does, and starts it again. Does not wait for that: requests do. */
  kill(): void {
    this.kills++
    this.#running = this.#running.then(async ({ process, exited }) => {
      process.kill('SIGKILL')
      await exited
      return this.#start()
    })
    // A server that does not start again is told of by the requests that wait for it.
    this.#running.catch(() => {})
  }

  /** Resolves when the last of those that were to be killed is back. */
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
        // 429 and 503 are a server's that is about to be ready.
        if ((isAnswered(error) && !isStatus(error, 429) && !isStatus(error, 503)) || performance.now() > deadline)
          throw error
        this.lost++
        await delay(20)
      }
    }
  }

  /** For rooms that want a test's cluster. */
  get cluster(): ReachableCluster {
    return { ...this.#cluster, call: this.call }
  }
}

const isAnswered = (error: unknown): boolean => /: \d{3} /.test(String(error))
const isStatus = (error: unknown, status: number): boolean => String(error).includes(`: ${status} `)
const nameIn = (body: object | string | undefined): string => (body as { metadata: { name: string } }).metadata.name
